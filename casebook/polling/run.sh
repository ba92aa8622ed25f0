#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
program=server.py requests=60
if [ "$VARIANT" = fixed ]; then program=fixed.py requests=8000; fi
watch --server "$PYTHON $CASEBOOK/polling/$program {server} $port 60" -- \
    "$PYTHON" "$CASEBOOK/polling/client.py" {server} "$port" "${REQUESTS:-$requests}"
