#!/bin/bash
# Usage: run.sh [PROGRAM] [options of whyslow run]
# Programs with nothing wrong: what whyslow must not accuse. The list stands in choose_variant below.
. "$(dirname "$0")/../session.sh"
choose_variant asyncio go-client go-server node node-https java redis wrk ab curl -- "$@"
here=$CASEBOOK/healthy
port=$(free_port)

# nginx with the page /hello, and with a file of 256 MB to download. Sets SERVER.
with_nginx() { # plain|tls
    need nginx openssl
    make_certificate
    mkdir "$STATE/files"
    SERVER="$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE {server} $port $1"
}

# Compiles before anything is watched: a compiler is not what the story is about.
build_go() { # SOURCE
    PATH=$PATH:/usr/local/go/bin
    need go
    (cd "$STATE" && GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build} go build -o program "$here/$1")
}

case $VARIANT in
asyncio)
    watch --server "$PYTHON $here/asyncio-server.py {server} $port 60" -- \
        "$PYTHON" "$here/asyncio-client.py" {server} "$port" "${REQUESTS:-16000}" ;;
go-client)
    build_go client.go
    with_nginx tls
    watch --server "$SERVER" -- \
        "$STATE/program" "https://{server}:$port/hello" "$STATE/certificate.pem" "${REQUESTS:-10000}" ;;
go-server)
    need ab
    build_go server.go
    watch --server "$STATE/program {server}:$port" -- \
        ab -q -k -c 4 -n "${REQUESTS:-10000}" "http://{server}:$port/hello" ;;
node | node-https)
    need node
    scheme=http transport=plain
    if [ "$VARIANT" = node-https ]; then scheme=https transport=tls; fi
    with_nginx "$transport"
    watch --server "$SERVER" -- \
        node "$here/client.mjs" "$scheme" {server} "$port" "$STATE/certificate.pem" "${REQUESTS:-10000}" ;;
java)
    need java javac
    javac -d "$STATE" "$here/Client.java"
    with_nginx plain
    watch --server "$SERVER" -- \
        java -cp "$STATE" Client "http://{server}:$port/hello" "${REQUESTS:-10000}" ;;
redis)
    need redis-server redis-benchmark
    watch --server "redis-server --bind {server} --port $port --appendonly no --dir $STATE" -- \
        redis-benchmark -h {server} -p "$port" -q -c 8 -n "${REQUESTS:-50000}" -t get,set ;;
wrk)
    need wrk
    with_nginx plain
    watch --server "$SERVER" -- wrk -t1 -c4 -d2s "http://{server}:$port/hello" ;;
ab)
    need ab
    with_nginx plain
    watch --server "$SERVER" -- ab -q -k -c 4 -n "${REQUESTS:-50000}" "http://{server}:$port/hello" ;;
curl)
    need curl
    with_nginx tls
    head -c 256M /dev/zero >"$STATE/files/large"
    watch --link mtu=1500 --server "$SERVER" -- curl --silent --fail --output /dev/null --cacert "$STATE/certificate.pem" \
        --resolve "casebook.test:$port:{server}" "https://casebook.test:$port/large" ;;
esac
