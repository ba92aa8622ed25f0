#!/bin/bash
# Usage: run.sh [slow|nginx|fixed|fixed-nginx] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow nginx fixed fixed-nginx -- "$@"
need ab nginx
port=$(free_port)
files=16
case $VARIANT in fixed*) files=1024 ;; esac
requests=400
link=()
address="http://{server}:$port/"
serve="$PYTHON $CASEBOOK/line/server.py {server} $port many 0.1"
if [ "${VARIANT%nginx}" != "$VARIANT" ]; then
    chmod 755 "$STATE" # nginx's workers are nobody
    serve="$CASEBOOK/serve-nginx.sh $CASEBOOK/descriptors/nginx.conf $STATE {server} $port tls"
    make_certificate
    address="https://{server}:$port/"
    requests=80
    link=(--link mtu=1500,delay=20ms)
fi
watch "${link[@]}" --server "sh -c 'ulimit -n $files; exec $serve'" -- ab -q -c 40 -n "${REQUESTS:-$requests}" "$address"
