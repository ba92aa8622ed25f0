#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
program=server.py requests=2000
if [ "$VARIANT" = fixed ]; then program=fixed.py requests=3000; fi
watch --server "$PYTHON $CASEBOOK/fsync/$program {server} $port $STATE/journal 60" -- \
    "$PYTHON" "$CASEBOOK/fsync/client.py" {server} "$port" "${REQUESTS:-$requests}"
