#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
contexts=each requests=300
if [ "$VARIANT" = fixed ]; then contexts=one requests=1000; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/contexts/client.py" {server} "$port" "${REQUESTS:-$requests}" "$contexts"
