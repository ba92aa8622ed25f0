#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx curl
mkdir "$STATE/files"
echo small >"$STATE/files/small"
head -c 8k /dev/zero >"$STATE/files/page"
port=$(free_port)
link=mtu=1500,delay=5ms,path-mtu=1400
if [ "$VARIANT" = fixed ]; then link=mtu=1400,delay=5ms,path-mtu=1400; fi
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link on which large packets vanish, which whyslow makes" >&2
    exit 77
fi
# The server's kernel tries smaller segments once large ones were lost several times; many kernels never do.
watch --link "$link" --setting net.ipv4.tcp_mtu_probing=1 --setting net.ipv4.tcp_retries1=2 \
    --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/blackhole/nginx.conf $STATE {server} $port" -- \
    "$CASEBOOK/blackhole/client.sh" "http://{server}:$port" "${REQUESTS:-1}"
