#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
PATH=$PATH:/usr/local/go/bin
need go
port=$(free_port)
how=each requests=60
if [ "$VARIANT" = fixed ]; then how=once requests=2000; fi
(cd "$STATE" && GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build} go build -o server "$CASEBOOK/encoded/server.go")
watch --server "$STATE/server {server}:$port $how" -- \
    "$PYTHON" "$CASEBOOK/ask.py" {server} "$port" / "${REQUESTS:-$requests}"
