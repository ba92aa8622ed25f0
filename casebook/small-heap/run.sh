#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need java javac
javac -d "$STATE" "$CASEBOOK/small-heap/Server.java"
port=$(free_port)
heap=-Xmx28m
if [ "$VARIANT" = fixed ]; then heap=-Xmx512m; fi
watch --server "java $heap -cp $STATE Server {server} $port" -- \
    "$PYTHON" "$CASEBOOK/small-heap/client.py" {server} "$port" "${REQUESTS:-600}"
