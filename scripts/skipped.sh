#!/bin/bash
# Prints how many tests were skipped, and why, from the list that they left. Usage: skipped.sh LIST
#
# Where nothing may be skipped (continuous integration, which sets CI=true), a skip is a failure.
set -euo pipefail
list=$1
count=0
if [ -s "$list" ]; then count=$(sort -u "$list" | wc -l); fi
echo "skipped: $count"
if [ "$count" = 0 ]; then exit 0; fi
# By reason, the most frequent first; then the tests.
sort -u "$list" | sed 's/^[^ ]*: //' | sort | uniq -c | sort -rn
sort -u "$list" | sed 's/^/    /'
if [ "${CI:-}" = true ]; then
    echo "skipped.sh: nothing may be skipped here; 'scripts/setup.sh test' as root installs what tests need" >&2
    exit 1
fi
