#!/bin/bash
# Usage: run.sh [bundle|one] [options of whyslow matrix]
# REQUESTS  how many each run makes (30)
# VERSIONS  of OpenSSL (1.1.1w,3.0.2,3.1.3,3.6.3)
. "$(dirname "$0")/../session.sh"
choose_variant bundle one -- "$@"
need nginx openssl gcc
if ! gcc -E -include curl/curl.h -x c /dev/null >/dev/null 2>&1; then
    echo "skipped: curl/curl.h is not installed (libcurl4-openssl-dev)" >&2
    exit 77
fi
make_authority
port=$(free_port)
case $VARIANT in
bundle) trusted=$STATE/bundle.pem ;;
# One certificate to read: what is left is making contexts, and handshakes.
one) trusted=$STATE/authority.pem ;;
esac
# Linked with the names of libcurl's functions alone: with the distribution's libcurl, it would ask for symbol versions that
# are the distribution's own.
names=$(grep -o 'curl_[a-z_]*(' "$CASEBOOK/upgrade/curl-test.c" | sort -u)
for name in $names; do echo "void $name) {}"; done >"$STATE/names.c"
gcc -shared -fPIC -w -Wl,-soname,libcurl.so.4 -o "$STATE/libcurl.so" "$STATE/names.c"
gcc -std=gnu17 -O2 -fno-inline -g -o "$STATE/curl-test" "$CASEBOOK/upgrade/curl-test.c" -L"$STATE" -lcurl
rm "$STATE/libcurl.so"
matrix --library "openssl=${VERSIONS:-1.1.1w,3.0.2,3.1.3,3.6.3}" --with curl=8.0.1 \
    --metric 'stdout:pretransfer_ms=([0-9.]+)' --try share-ssl-context --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port tls" -- \
    "$STATE/curl-test" --cacert "$trusted" "${REQUESTS:-30}" "https://{server}:$port/hello"
