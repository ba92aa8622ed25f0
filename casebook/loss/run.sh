#!/bin/bash
# Usage: run.sh [pages|file|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant pages file fixed -- "$@"
need nginx curl
mkdir "$STATE/files"
head -c 4k /dev/zero >"$STATE/files/page"
head -c 512k /dev/zero >"$STATE/files/file"
port=$(free_port)
link=mtu=1500,delay=5ms,loss=5% what=page requests=800 words=()
if [ "$VARIANT" = file ]; then
    # BBR, where it is the default, bears this.
    link=mtu=1500,delay=10ms,loss=1% what=file requests=6 words=(--route 'server: congctl cubic')
fi
if [ "$VARIANT" = fixed ]; then link=mtu=1500,delay=5ms; fi
if [ "$WHYSLOW" = none ]; then
    echo "skipped: this needs a link that loses packets, which whyslow makes" >&2
    exit 77
fi
watch --link "$link" "${words[@]}" --server "$CASEBOOK/serve-nginx.sh $CASEBOOK/loss/nginx.conf $STATE {server} $port" -- \
    curl --silent --fail --output /dev/null --no-progress-meter --parallel --parallel-max 16 "http://{server}:$port/$what?[1-${REQUESTS:-$requests}]"
