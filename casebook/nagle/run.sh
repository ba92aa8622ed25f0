#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
# 100 requests are 4.4 s when slow: long enough for every account, short enough to wait for.
program=client.py requests=100
if [ "$VARIANT" = fixed ]; then program=fixed.py requests=4000; fi
watch --link mtu=1500 --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nagle/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/nagle/$program" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-$requests}"
