#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need java javac
javac -d "$STATE" "$CASEBOOK/collections/Server.java"
port=$(free_port)
tidy=
if [ "$VARIANT" = slow ]; then tidy=tidy; fi
watch --server "java -Dsun.net.httpserver.nodelay=true -cp $STATE Server {server} $port $tidy" -- \
    "$PYTHON" "$CASEBOOK/small-heap/client.py" {server} "$port" "${REQUESTS:-150}"
