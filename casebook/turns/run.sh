#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
at_a_time=2
if [ "$VARIANT" = fixed ]; then at_a_time=12; fi
watch --server "$PYTHON $CASEBOOK/turns/server.py {server} $port" -- \
    "$PYTHON" "$CASEBOOK/turns/client.py" {server} "$port" "${REQUESTS:-15}" "$at_a_time"
