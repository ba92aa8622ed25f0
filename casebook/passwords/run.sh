#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need node
port=$(free_port)
where=loop requests=20
if [ "$VARIANT" = fixed ]; then where=pool; fi
watch --server "node $CASEBOOK/passwords/server.mjs {server} $port $where" -- \
    "$PYTHON" "$CASEBOOK/passwords/client.py" {server} "$port" "${REQUESTS:-$requests}"
