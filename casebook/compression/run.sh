#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
"$PYTHON" "$CASEBOOK/compression/make_catalogue.py" "$STATE"
port=$(free_port)
requests=60
if [ "$VARIANT" = fixed ]; then requests=1500; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/compression/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/compression/client.py" {server} "$port" "/$VARIANT/catalogue.json" "${REQUESTS:-$requests}"
