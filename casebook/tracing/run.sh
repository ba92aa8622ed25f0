#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
# As an image or a unit file sets it.
variable=PYTHONTRACEMALLOC=25
if [ "$VARIANT" = fixed ]; then variable=PYTHONTRACEMALLOC=0; fi
watch --server "env $variable $PYTHON $CASEBOOK/tracing/server.py {server} $port" -- \
    "$PYTHON" "$CASEBOOK/tracing/client.py" {server} "$port" "${REQUESTS:-150}"
