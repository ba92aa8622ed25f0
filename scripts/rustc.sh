#!/bin/sh
# What cargo calls in place of the compiler (.cargo/config.toml).
#
# A crate's own tests are not optimised, but for the statistics, whose tests compute for long: the others run for seconds and take
# minutes to optimise; and overflows are found. They are compiled by clippy-driver, which is the compiler with more to say: to have
# clippy check everything by itself, all dependencies are compiled once more. So are examples and build scripts of ours; what tests
# stand on is compiled as ever, by the compiler alone, since clippy keeps it from optimising.
linted() {
    # Who only builds needs no clippy.
    if clippy-driver --version >/dev/null 2>&1; then shift && exec clippy-driver rustc "$@"; fi
    exec "$@"
}
case $1 in
    # `cargo clippy`.
    *clippy-driver) exec "$@" ;;
esac
case " $* " in
    # Other people's.
    *" --cap-lints "*) exec "$@" ;;
    *" --crate-name stats "*" --test "*) linted "$@" ;;
    *" --test "*) linted "$@" -C opt-level=0 ;;
    *" --crate-name build_script_build "* | *"/examples "*) linted "$@" ;;
    *) exec "$@" ;;
esac
