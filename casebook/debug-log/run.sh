#!/bin/bash
# Usage: run.sh [slow|fixed|runtime|quiet] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed runtime quiet -- "$@"
need nginx node
port=$(free_port)
requests=3000
server="$CASEBOOK/serve-nginx.sh $CASEBOOK/debug-log/fixed.conf $STATE {server} $port"
case $VARIANT in
slow) requests=1500 server=${server/fixed.conf/nginx.conf} ;;
# As somebody has left it in a unit file.
runtime) requests=1500 server="$CASEBOOK/debug-log/serve-node.sh $STATE {server} $port http,net,stream" ;;
quiet) server="$CASEBOOK/debug-log/serve-node.sh $STATE {server} $port" ;;
esac
watch --server "$server" -- "$PYTHON" "$CASEBOOK/debug-log/client.py" {server} "$port" "${REQUESTS:-$requests}"
