#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
seconds=0.1
if [ "$VARIANT" = fixed ]; then seconds=5; fi
watch --server "$PYTHON $CASEBOOK/retries/server.py {server} $port" -- \
    "$PYTHON" "$CASEBOOK/retries/client.py" {server} "$port" "${REQUESTS:-12}" "$seconds"
