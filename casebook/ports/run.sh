#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
mkdir "$STATE/files"
echo page >"$STATE/files/page"
port=$(free_port)
how=each requests=200
if [ "$VARIANT" = fixed ]; then how=one requests=3000; fi
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a network namespace of its own, which whyslow makes" >&2
    exit 77
fi
# --link: the ports are those of the client's namespace, not the host's.
watch --link mtu=1500 --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/ports/nginx.conf $STATE {server} $port" -- \
    "$CASEBOOK/ports/few-ports.sh" "$PYTHON" "$CASEBOOK/ports/client.py" {server} "$port" "${REQUESTS:-$requests}" "$how"
