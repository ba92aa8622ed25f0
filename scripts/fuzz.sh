#!/bin/bash
# Gives every target (or those named) so many inputs, or seconds: scripts/fuzz.sh runs=1000000|seconds=60 [TARGET...]
#
# By coverage, with cargo-fuzz, where that and a nightly compiler are installed; else by chance, with proptest. What crashes a
# target is kept in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
amount=$1
shift
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    mapfile -t targets < <(ls fuzz/seeds)
fi
status=0
if cargo +nightly fuzz --version >/dev/null 2>&1; then
    cargo +nightly fuzz build --fuzz-dir fuzz any
    program=$(ls fuzz/target/*/release/any | head -1)
    case $amount in
        runs=*) limit="-runs=${amount#runs=}" ;;
        seconds=*) limit="-max_total_time=$((${amount#seconds=} / ${#targets[@]} + 1))" ;;
        *) echo "fuzz.sh: runs=N or seconds=N" >&2; exit 2 ;;
    esac
    for target in "${targets[@]}"; do
        mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
        log=fuzz/artifacts/$target.log
        # Memory as a stranger's case may take; no input may take ten seconds.
        if WHYSLOW_FUZZ_TARGET=$target "$program" "$limit" -rss_limit_mb=1024 -malloc_limit_mb=768 -timeout=10 -max_len=65536 \
            -print_final_stats=1 "-artifact_prefix=fuzz/artifacts/$target/" "fuzz/corpus/$target" "fuzz/seeds/$target" \
            >"$log" 2>&1; then
            echo "$target: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs, no crash"
        else
            echo "$target: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs, then a crash: $log" >&2
            status=1
        fi
    done
else
    case $amount in
        runs=*) inputs=${amount#runs=} ;;
        # Some hundred inputs a second, whatever the target.
        seconds=*) inputs=$((${amount#seconds=} * 100 / ${#targets[@]} + 1)) ;;
        *) echo "fuzz.sh: runs=N or seconds=N" >&2; exit 2 ;;
    esac
    for target in "${targets[@]}"; do
        WHYSLOW_FUZZ=$inputs WHYSLOW_FUZZ_TARGET=$target \
            cargo test --release --locked --quiet --package whyslow-fuzz -- --nocapture | grep inputs || status=1
    done
fi
exit $status
