#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need curl
port=$(free_port)
header='Expect: 100-continue' requests=5
# An empty header makes curl leave it out: the cure from the client's side.
if [ "$VARIANT" = fixed ]; then header='Expect:' requests=100; fi
head -c 100000 /dev/zero >"$STATE/upload"
# One curl for all uploads: what is slow here is not the starting of processes.
uploads=()
for ((request = 0; request < ${REQUESTS:-$requests}; request++)); do
    if [ "$request" -gt 0 ]; then uploads+=(--next); fi
    uploads+=(--silent --fail --output /dev/null --header "$header" --data-binary "@$STATE/upload" "http://{server}:$port/")
done
watch --server "$PYTHON $CASEBOOK/expect/server.py {server} $port 60" -- curl "${uploads[@]}"
