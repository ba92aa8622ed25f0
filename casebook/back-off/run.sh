#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx wget
mkdir "$STATE/files"
requests=${REQUESTS:-30}
for number in $(seq "$requests"); do echo "page $number" >"$STATE/files/$number"; done
port=$(free_port)
configuration=nginx.conf
if [ "$VARIANT" = fixed ]; then configuration=fixed.conf; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/back-off/$configuration $STATE {server} $port" -- \
    "$CASEBOOK/back-off/client.sh" "http://{server}:$port" "$requests"
