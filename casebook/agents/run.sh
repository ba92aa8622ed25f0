#!/bin/bash
# Usage: run.sh [slow|plain|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow plain fixed -- "$@"
need node nginx openssl
make_certificate
port=$(free_port)
agents=each requests=100
if [ "$VARIANT" = fixed ]; then agents=one requests=1500; fi
certificate=$STATE/certificate.pem how=tls way=()
if [ "$VARIANT" = plain ]; then certificate=none how=plain way=(--link mtu=1500,delay=2ms); fi
watch "${way[@]}" --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port $how" -- \
    node "$CASEBOOK/agents/client.mjs" {server} "$port" "$certificate" "$agents" "${REQUESTS:-$requests}"
