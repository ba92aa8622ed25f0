#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl taskset gzip
make_certificate
port=$(free_port)
# Three programs of somebody else's, on the CPU that server and client have.
if [ "$VARIANT" = slow ]; then
    for _ in 1 2 3; do taskset -c 0 gzip -9 </dev/zero >/dev/null & neighbours+=($!); done
    trap 'kill "${neighbours[@]}" 2>/dev/null || true; leave' EXIT
fi
watch --processors 0 --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/neighbour/client.py" {server} "$port" "${REQUESTS:-300}"
