#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
port=$(free_port)
program=server.py requests=12
if [ "$VARIANT" = fixed ]; then program=fixed.py requests=2000; fi
mkdir "$STATE/files"
head -c 5000 /dev/zero >"$STATE/files/small"
watch --server "$PYTHON $CASEBOOK/cork/$program {server} $port $STATE/files" -- \
    "$PYTHON" "$CASEBOOK/cork/client.py" {server} "$port" small "${REQUESTS:-$requests}"
