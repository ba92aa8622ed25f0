#!/bin/bash
# Usage: run.sh [slow|script|fixed|alone] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow script fixed alone -- "$@"
PATH=$PATH:/usr/local/go/bin
need go gcc
if [ "$(nproc)" -lt 2 ]; then
    echo "skipped: this needs two CPUs" >&2
    exit 77
fi
port=$(free_port)
linked=0 set= connections=4
case $VARIANT in
slow) export GOMAXPROCS=1 ;;
script) linked=1 set="env GOMAXPROCS=1" ;;
alone) export GOMAXPROCS=1; connections=1 ;;
esac
(cd "$STATE" && GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build} CGO_ENABLED=$linked \
    go build -o server "$CASEBOOK/confined/server.go")
watch --server "$set $STATE/server {server}:$port" -- \
    "$PYTHON" "$CASEBOOK/pinned/client.py" {server} "$port" "$connections" "${REQUESTS:-200}"
