#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need curl nginx openssl
make_authority
mkdir "$STATE/trust"
hash=$(openssl x509 -in "$STATE/authority.pem" -noout -subject_hash)
cp "$STATE/authority.pem" "$STATE/trust/$hash.0"
copies=120
if [ "$VARIANT" = fixed ]; then copies=0; fi
# As an update leaves them that adds today's certificate of the same authority and removes none.
for number in $(seq "$copies"); do
    openssl req -x509 -key "$STATE/authority-key.pem" -days 1 -subj '/CN=the casebook' -addext keyUsage=critical,keyCertSign \
        -out "$STATE/trust/$hash.$number" 2>"$STATE/openssl.log"
done
sed "/END CERTIFICATE/q" /etc/ssl/certs/ca-certificates.crt >"$STATE/other.pem"
port=$(free_port)
watch --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$PYTHON" "$CASEBOOK/ca-path/client.py" {server} "$port" "$STATE/trust" "$STATE/other.pem" "${REQUESTS:-20}"
