#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
chmod 755 "$STATE" # nginx's workers are nobody
for ((rule = 0; rule < 5000; rule++)); do
    echo "~/(.+)/page/$rule\.html\$ /$rule;"
done >"$STATE/moved.map"
port=$(free_port)
# At every 16th connection a worker goes to the end of the kernel's list, so that 32 are shared evenly.
connections=16
if [ "$VARIANT" = fixed ]; then connections=32; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/workers/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/workers/client.py" {server} "$port" $connections "${REQUESTS:-320}"
