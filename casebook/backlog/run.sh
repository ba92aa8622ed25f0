#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
queue=2 rounds=2
if [ "$VARIANT" = fixed ]; then queue=128 rounds=10; fi
watch --server "$PYTHON $CASEBOOK/backlog/server.py {server} $port $queue 60" -- \
    "$PYTHON" "$CASEBOOK/backlog/client.py" {server} "$port" "${ROUNDS:-$rounds}" 16
