#!/bin/bash
# Usage: run.sh [slow|plain|fixed|mtu] [options of whyslow sweep]
# MTU   of the link (default: 1500)
# SIZES what is walked through (default: 1..16K:log); for `mtu`, the sizes of its packets (default: 500..1500)
. "$(dirname "$0")/../session.sh"
choose_variant slow plain fixed mtu -- "$@"
need nginx openssl
make_certificate
port=$(free_port)
program=client.py transport=tls trusted=$STATE/certificate.pem size={size}
link=mtu=${MTU:-1500} vary=size=${SIZES:-1..16K:log} VALUES=${VALUES:-80 1400 1500}
case $VARIANT in
fixed) program=fixed.py ;;
plain) transport=plain trusted=plain ;;
# One size, and the link is changed: it is too long for one segment, until packets become large enough.
mtu) size=900 vary=mtu=${SIZES:-500..1500} VALUES=65536 ;;
esac
# 2,000 requests are over in a second where nothing is held; where they are, a trial is cut long before their end.
sweep --vary "$vary" --link "$link" \
    --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nagle/nginx.conf $STATE {server} $port $transport" -- \
    "$PYTHON" "$CASEBOOK/sizes/$program" {server} "$port" "$trusted" "$size" "${REQUESTS:-2000}"
