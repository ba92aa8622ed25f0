#!/bin/bash
# Usage: run.sh [slow|option|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow option fixed -- "$@"
port=$(free_port)
# As an image or a unit file sets it.
variable=PYTHONTRACEMALLOC=25 requests=40
if [ "$VARIANT" != slow ]; then variable=PYTHONTRACEMALLOC=0; fi
if [ "$VARIANT" = fixed ]; then requests=150; fi
# As a unit's ExecStart= or a script has it.
option=
if [ "$VARIANT" = option ]; then option="-X tracemalloc=25"; fi
watch --server "env $variable $PYTHON $option $CASEBOOK/tracing/server.py {server} $port" -- \
    "$PYTHON" "$CASEBOOK/tracing/client.py" {server} "$port" "${REQUESTS:-$requests}"
