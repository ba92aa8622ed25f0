#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx
mkdir "$STATE/files"
head -c 400k /dev/zero >"$STATE/files/file"
port=$(free_port)
# With BBR, where it is the default, connections keep their window.
words=(--route 'server: congctl cubic')
if [ "$VARIANT" = fixed ]; then words+=(--setting net.ipv4.tcp_slow_start_after_idle=0); fi
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link with a delay, which whyslow makes" >&2
    exit 77
fi
watch --link mtu=1500,delay=20ms "${words[@]}" \
    --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/idle/nginx.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/idle/client.py" {server} "$port" "${REQUESTS:-6}" 0.8
