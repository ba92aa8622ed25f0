#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
made=in-request
if [ "$VARIANT" = fixed ]; then made=aside; fi
watch --server "$PYTHON $CASEBOOK/slow-few/server.py {server} $port $made" -- \
    "$PYTHON" "$CASEBOOK/slow-few/client.py" {server} "$port" "${REQUESTS:-400}"
