#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need taskset
if [ "$(nproc)" -lt 2 ]; then
    echo "skipped: this needs two CPUs" >&2
    exit 77
fi
port=$(free_port)
confined=
if [ "$VARIANT" = slow ]; then confined="taskset --cpu-list 0"; fi
watch --server "$confined $PYTHON $CASEBOOK/pinned/server.py {server} $port 2" -- \
    "$PYTHON" "$CASEBOOK/pinned/client.py" {server} "$port" 2 "${REQUESTS:-60}"
