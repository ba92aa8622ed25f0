#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need node nginx openssl
make_certificate
port=$(free_port)
agents=each requests=100
if [ "$VARIANT" = fixed ]; then agents=one requests=1500; fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    node "$CASEBOOK/agents/client.mjs" {server} "$port" "$STATE/certificate.pem" "$agents" "${REQUESTS:-$requests}"
