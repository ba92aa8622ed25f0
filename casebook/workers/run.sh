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
shared=
if [ "$VARIANT" = fixed ]; then shared=reuseport; fi
sed "s|@SHARED@|$shared|" "$CASEBOOK/workers/nginx.conf" >"$STATE/workers.conf"
watch --server "$CASEBOOK/serve-nginx.sh $STATE/workers.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/workers/client.py" {server} "$port" 32 "${REQUESTS:-320}"
