#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
mkdir -p "$STATE/files"
for number in 0 1 2 3 4 5 6 7; do
    head -c 1000000 /dev/zero | tr "\0" "$number" >"$STATE/files/page-$number.html"
done
# What is not on the disk yet would be taken there first.
sync "$STATE/files/"*
port=$(free_port)
template=nginx.conf requests=600
if [ "$VARIANT" = fixed ]; then template=fixed.conf requests=3000; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/direct-io/$template $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/direct-io/client.py" {server} "$port" "${REQUESTS:-$requests}"
