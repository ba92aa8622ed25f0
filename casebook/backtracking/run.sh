#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need node
port=$(free_port)
how=nested requests=100
if [ "$VARIANT" = fixed ]; then how=plain requests=2000; fi
watch --server "node $CASEBOOK/backtracking/server.mjs {server} $port $how" -- \
    "$PYTHON" "$CASEBOOK/order.py" {server} "$port" "${REQUESTS:-$requests}"
