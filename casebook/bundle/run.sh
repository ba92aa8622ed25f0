#!/bin/bash
# Usage: run.sh [slow|same] [options of whyslow compare]
. "$(dirname "$0")/../session.sh"
choose_variant slow same -- "$@"
need nginx openssl curl
make_certificate
port=$(free_port)
# The distribution's bundle with the story's own certificate behind it, against that certificate alone.
cat /etc/ssl/certs/ca-certificates.crt "$STATE/certificate.pem" >"$STATE/bundle.pem"
trusted=$STATE/bundle.pem
if [ "$VARIANT" = same ]; then trusted=$STATE/certificate.pem; fi
fetch="--silent --fail --output /dev/null --resolve casebook.test:$port:{server} https://casebook.test:$port/hello"
read -ra words <<<"$fetch"
compare --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" \
    "curl --cacert $trusted $fetch" -- curl --cacert "$STATE/certificate.pem" "${words[@]}"
