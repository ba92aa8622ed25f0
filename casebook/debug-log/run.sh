#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
port=$(free_port)
template=nginx.conf requests=1500
if [ "$VARIANT" = fixed ]; then template=fixed.conf requests=3000; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/debug-log/$template $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/debug-log/client.py" {server} "$port" "${REQUESTS:-$requests}"
