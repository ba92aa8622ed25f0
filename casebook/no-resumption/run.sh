#!/bin/bash
# Usage: run.sh [slow|fixed|keys|shared|none] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed keys shared none -- "$@"
need nginx openssl
# RSA with 4,096 bits: what a full handshake costs the server is plain to see.
make_certificate rsa:4096
port=$(free_port)
program=fixed.py
if [ "$VARIANT" = slow ]; then program=client.py; fi
server="$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls"
case $VARIANT in
keys | shared)
    mkdir -p "$STATE/one" "$STATE/two"
    for host in one two; do
        cp "$STATE/certificate.pem" "$STATE/key.pem" "$STATE/$host"
        openssl rand 80 >"$STATE/$host/ticket.key"
    done
    if [ "$VARIANT" = shared ]; then cp "$STATE/one/ticket.key" "$STATE/two"; fi
    server="$CASEBOOK/no-resumption/farm.sh $CASEBOOK $STATE {server} $port"
    ;;
esac
if [ "$VARIANT" = none ]; then
    # Somebody read that tickets are a risk, and did not read on.
    sed 's/ssl_session_cache .*/ssl_session_tickets off; ssl_session_cache off;/' "$CASEBOOK/nginx.conf" >"$STATE/none.conf"
    server="$CASEBOOK/serve-nginx.sh $STATE/none.conf $STATE {server} $port tls"
fi
watch --server "$server" -- \
    "$PYTHON" "$CASEBOOK/no-resumption/$program" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-200}"
