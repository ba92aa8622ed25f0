#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
handles=each requests=150
if [ "$VARIANT" = fixed ]; then handles=one requests=4000; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/contexts/client.py" {server} "$port" "${REQUESTS:-$requests}" "$handles"
