#!/bin/bash
# Usage: run.sh [slow|fixed|shared|curl|curl-shared] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed shared curl curl-shared -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
trusted=$STATE/certificate.pem
# A context with the whole bundle takes 15 to 20 ms; a shared context's requests take a twentieth of that, and those of
# a shared connection a thousandth.
case $VARIANT in
slow) program=client.py requests=60 ;;
fixed) program=fixed.py requests=4000 ;;
shared) program=shared.py requests=1000 ;;
curl) program=curl.py requests=60 ;;
curl-shared) program=curl.py requests=1000 ;;
esac
words=()
case $VARIANT in
curl*)
    # libcurl takes one file: the distribution's bundle with the story's own certificate behind it.
    trusted=$STATE/bundle.pem
    cat /etc/ssl/certs/ca-certificates.crt "$STATE/certificate.pem" >"$trusted"
    ;;
esac
if [ "$VARIANT" = curl-shared ]; then words=(shared); fi
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/context-per-request/$program" {server} "$port" "$trusted" "${REQUESTS:-$requests}" "${words[@]}"
