#!/bin/bash
# Usage: run.sh [slow|pool|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow pool fixed -- "$@"
need nginx
"$PYTHON" "$CASEBOOK/compression/make_catalogue.py" "$STATE"
port=$(free_port)
requests=60
if [ "$VARIANT" = fixed ]; then requests=1500; fi
server="$CASEBOOK/serve-nginx.sh $CASEBOOK/compression/nginx.conf $STATE {server} $port"
if [ "$VARIANT" = pool ]; then
    need node
    server="node $CASEBOOK/compression/server.mjs {server} $port $STATE/catalogue.json"
fi
watch --server "$server" -- \
    "$PYTHON" "$CASEBOOK/compression/client.py" {server} "$port" "/$VARIANT/catalogue.json" "${REQUESTS:-$requests}"
