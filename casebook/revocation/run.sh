#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl
port=$(free_port)
list=$(free_port)
make_authority
openssl x509 -req -in "$STATE/request.pem" -CA "$STATE/authority.pem" -CAkey "$STATE/authority-key.pem" -set_serial 3 -days 1 \
    -extfile <(printf 'subjectAltName=DNS:casebook.test\ncrlDistributionPoints=URI:http://127.0.0.1:%s/authority.crl\n' "$list") \
    -out "$STATE/certificate.pem" 2>"$STATE/openssl.log"
: >"$STATE/index.txt"
printf '[ca]\ndefault_ca=one\n[one]\ndatabase=%s/index.txt\ndefault_md=sha256\n' "$STATE" >"$STATE/ca.conf"
openssl ca -config "$STATE/ca.conf" -gencrl -keyfile "$STATE/authority-key.pem" -cert "$STATE/authority.pem" -crldays 1 \
    -out "$STATE/list.pem" 2>"$STATE/openssl.log"
openssl crl -in "$STATE/list.pem" -outform DER -out "$STATE/list.crl"
options=(-crl_check -crl_download) visits=15
if [ "$VARIANT" = fixed ]; then options=() visits=60; fi
# The list's server is no part of what is asked about: it stands for somebody far away.
"$PYTHON" "$CASEBOOK/revocation/crl.py" 127.0.0.1 "$list" "$STATE/list.crl" 80 &
server_pid=$!
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/revocation/client.py" {server} "$port" "$STATE/authority.pem" "${REQUESTS:-$visits}" "${options[@]}"
