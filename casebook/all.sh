#!/bin/bash
# Tells every story, the slow variant and its twin, one after another. Usage: all.sh [options of all whyslow commands]
# Ends with 1 where a story failed (not where it found something, and not where it was skipped: that is counted).
cd "$(dirname "$0")" || exit 2
failed=0 skipped=0 told=0
tell() { # STORY VARIANT OPTIONS...
    local story=$1 variant=$2 status=0
    shift 2
    printf '\n== %s, %s\n' "$story" "$variant"
    "./$story/run.sh" "$variant" "$@" || status=$?
    case $status in
    0 | 1 | 3) told=$((told + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)); echo "$story, $variant: failed with status $status" >&2 ;;
    esac
}
for story in nagle context-per-request four-lines no-resumption tiny-reads fsync expect name-lookup quota two-causes gta sizes live; do
    tell "$story" slow "$@"
    tell "$story" fixed "$@"
done
tell context-per-request curl "$@"
tell gta needed "$@"
for program in slow linear sorting; do
    printf '\n== gta, %s, swept' "$program"
    tell gta "$program" sweep "$@"
done
for story in bundle balance; do
    tell "$story" slow "$@"
    tell "$story" same "$@"
done
tell live go "$@"
for variant in https http fixed-https fixed-http; do tell churn "$variant" "$@"; done
for program in asyncio go-client go-server node node-https java redis wrk ab curl; do tell healthy "$program" "$@"; done
printf '\n%d told, %d skipped, %d failed\n' "$told" "$skipped" "$failed"
[ "$failed" -eq 0 ]
