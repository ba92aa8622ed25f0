#!/bin/bash
# Usage: run.sh [send|receive|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant send receive fixed -- "$@"
need nginx openssl
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link with a delay, which whyslow makes" >&2
    exit 77
fi
make_certificate
mkdir "$STATE/files"
head -c 1M /dev/zero >"$STATE/files/megabyte"
port=$(free_port)
words=()
case $VARIANT in
send) words=(--setting "net.ipv4.tcp_wmem=4096 16384 65536") ;;
receive) words=(--setting "net.ipv4.tcp_rmem=4096 32768 65536") ;;
esac
watch --link mtu=1500,delay=10ms "${words[@]}" \
    --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port plain" -- \
    "$PYTHON" "$CASEBOOK/buffers/client.py" {server} "$port" "${REQUESTS:-12}"
