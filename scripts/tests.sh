#!/bin/bash
# Runs tests, and those that fail once more, by themselves. Usage: tests.sh [arguments of cargo test]
#
# Many tests time real programs, and machines are shared: a neighbour can spoil one of two hundred. What fails twice fails;
# what passed only the second time is named and counted, and worth a look where it is named again and again.
set -euo pipefail
# More failures than this are not a neighbour's doing.
most=6
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# `test result: ok. 12 passed; 0 failed; 1 ignored; ...`, a line for each program of tests.
count() { awk -v word="$1" '/^test result:/ { for (i = 2; i <= NF; i++) if ($i ~ "^" word) sum += $(i - 1) } END { print sum + 0 }' "$log"; }

# To a file that is followed, not through a pipe: what a test left running would keep a pipe open, and whoever reads it waiting.
run() {
    : >"$log"
    cargo test --release --locked --no-fail-fast "$@" >>"$log" 2>&1 &
    local tests=$! status=0
    tail --lines=+1 --follow --sleep-interval=0.5 --pid=$tests "$log" &
    wait "$tests" || status=$?
    wait $!
    return "$status"
}

# Processes that still write where the tests wrote, named.
left() {
    local descriptor process
    for descriptor in /proc/[0-9]*/fd/[12]; do
        process=${descriptor#/proc/} process=${process%%/*}
        if [ "$descriptor" -ef "$log" ]; then echo "$process $(tr '\0\n' '  ' <"/proc/$process/cmdline")"; fi
    done 2>/dev/null | sort -u
}

status=0
run "$@" || status=$?
passed=$(count passed) ignored=$(count ignored) failed=$(count failed) again=0
mapfile -t names < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log" | sort -u)
# A program of tests that did not build, or was killed, has no names to try again.
if [ "$status" != 0 ] && [ "${#names[@]}" = "$failed" ] && [ "$failed" -gt 0 ] && [ "$failed" -le "$most" ]; then
    echo "running the $failed that failed once more:" "${names[@]}"
    status=0
    RUST_TEST_THREADS=1 run "$@" -- --exact "${names[@]}" || status=$?
    again=$(count passed)
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
