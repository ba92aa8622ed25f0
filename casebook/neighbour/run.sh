#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
neighbours=()
if [ "$VARIANT" = slow ]; then
    # Two for each CPU, each for two minutes at most; each in a session of its own, since sessions share the CPUs evenly.
    for _ in $(seq $(($(nproc) * 2))); do
        setsid timeout 120 sh -c 'while :; do :; done' &
        neighbours+=($!)
    done
    trap 'kill "${neighbours[@]}"; leave' EXIT
fi
watch --server "$PYTHON $CASEBOOK/neighbour/server.py {server} $port" -- \
    "$PYTHON" "$CASEBOOK/neighbour/client.py" {server} "$port" "${REQUESTS:-100}"
