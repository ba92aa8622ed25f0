#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need gcc
level=-O0
if [ "$VARIANT" = fixed ]; then level=-O2; fi
gcc -g "$level" -o "$STATE/server" "$CASEBOOK/unoptimized/server.c"
port=$(free_port)
watch --server "$STATE/server {server} $port" -- "$PYTHON" "$CASEBOOK/order.py" {server} "$port" "${REQUESTS:-300}"
