#!/bin/bash
# Checks style and runs tests, and those that fail once more, by themselves. Usage: tests.sh [arguments of cargo]
#
# The tests from end to end wait more than they compute: more of them run at once than there are processors, and beside
# them the other tests are built, run and checked for style.
#
# Many tests time real programs, and machines are shared: a neighbour can spoil one of two hundred. What fails twice fails;
# what passed only the second time is named and counted, and worth a look where it is named again and again.
set -euo pipefail
# More failures than this are not a neighbour's doing.
most=6
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
end_to_end=$logs/end-to-end others=$logs/others built=$logs/built again_log=$logs/again
libraries=$logs/libraries programs=$logs/programs
options=(--release --locked "$@")
# `test result: ok. 12 passed; 0 failed; 1 ignored; ...`, a line for each program of tests.
count() { # WORD LOG...
    awk -v word="$1" '/^test result:/ { for (i = 2; i <= NF; i++) if ($i ~ "^" word) sum += $(i - 1) } END { print sum + 0 }' "${@:2}"
}

# To a file that is followed, not through a pipe: what a test left running would keep a pipe open, and whoever reads it waiting.
followed() { # LOG COMMAND...
    local log=$1 status=0
    : >"$log"
    "${@:2}" >>"$log" 2>&1 &
    local command=$!
    tail --lines=+1 --follow --sleep-interval=0.5 --pid=$command "$log" &
    wait "$command" || status=$?
    wait $!
    return "$status"
}

tests() { # ARGUMENTS OF cargo test...
    cargo test --no-fail-fast "${options[@]}" "$@"
}

# Until cargo runs what it has built, up to a minute: whoever builds keeps others from starting.
until_running() { # LOG
    for _ in {1..600}; do
        if grep -q '^     Running ' "$1"; then break; fi
        sleep 0.1
    done
}

# All but the tests from end to end. They wait more than they compute, so that those of whole programs and those of the libraries
# go side by side. Only what times real programs has the priority of the tests from end to end. What is wrong with the style is
# never worth a second try.
beside() {
    local status=0 style=0
    until_running "$end_to_end"
    nice -n 19 cargo test "${options[@]}" --no-run >"$built" 2>&1 || { status=$?; cat "$built"; return "$status"; }
    scripts/warnings.sh "$built" || style=1
    : >"$programs"
    : >"$libraries"
    # No other program of tests begins with an e; whether each has run is counted below.
    tests --test '[!e]*' >"$programs" 2>&1 &
    local of_programs=$!
    until_running "$programs"
    nice -n 19 cargo test --no-fail-fast "${options[@]}" --lib --bins >"$libraries" 2>&1 &
    local of_libraries=$!
    wait "$of_programs" || status=$?
    wait "$of_libraries" || status=$?
    cat "$programs" "$libraries"
    tests --doc || status=$?
    if [ "$style" != 0 ]; then return 1; fi
    return "$status"
}

# Processes that still write where the tests wrote, named.
left() {
    local descriptor process log
    for descriptor in /proc/[0-9]*/fd/[12]; do
        process=${descriptor#/proc/} process=${process%%/*}
        for log in "$end_to_end" "$others" "$libraries" "$programs" "$again_log"; do
            if [ "$descriptor" -ef "$log" ]; then echo "$process $(tr '\0\n' '  ' <"/proc/$process/cmdline")"; fi
        done
    done 2>/dev/null | sort -u
}

followed "$built" tests --no-run --test e2e
status=0
: >"$end_to_end"
RUST_TEST_THREADS=2 beside >"$others" 2>&1 &
neighbour=$!
RUST_TEST_THREADS=4 followed "$end_to_end" tests --test e2e || status=$?
beside_status=0
wait "$neighbour" || beside_status=$?
cat "$others"
# What is no test's failure (101) cannot be mended by trying again.
if [ "$status" = 0 ] || { [ "$status" = 101 ] && [ "$beside_status" != 0 ]; }; then status=$beside_status; fi

executables=$(grep -c '^  Executable ' "$built") ran=$(cat "$end_to_end" "$others" | grep -c '^     Running ')
if [ "$executables" != "$ran" ]; then
    echo "tests.sh: of $executables programs of tests, $ran were run" >&2
    status=1
fi
passed=$(count passed "$end_to_end" "$others") ignored=$(count ignored "$end_to_end" "$others")
failed=$(count failed "$end_to_end" "$others") again=0
mapfile -t names < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$end_to_end" "$others" | sort -u)
# A program of tests that did not build, or was killed, has no names to try again; nor has a warning of clippy's.
if [ "$status" = 101 ] && [ "${#names[@]}" = "$failed" ] && [ "$failed" -gt 0 ] && [ "$failed" -le "$most" ]; then
    echo "running the $failed that failed once more:" "${names[@]}"
    status=0
    RUST_TEST_THREADS=1 followed "$again_log" tests -- --exact "${names[@]}" || status=$?
    again=$(count passed "$again_log")
    # Names that matched nothing have not passed.
    if [ "$again" != "$failed" ]; then status=1; fi
    printf 'passed the second time: %s of %s\n' "$again" "$failed"
    printf '    %s\n' "${names[@]}"
fi
mapfile -t running < <(left)
if [ "${#running[@]}" -gt 0 ]; then
    echo "tests.sh: ${#running[@]} processes that tests started are still running:" >&2
    printf '    %s\n' "${running[@]}" >&2
    status=1
fi
echo "tests: $((passed + again)) passed, $((failed - again)) failed, $ignored ignored, $again of them run twice"
exit "$status"
