#!/bin/bash
# Usage: run.sh [slow|go|fixed|go-fixed|nginx] [options of whyslow attach]
# SECONDS_BARE  how long to look on where WHYSLOW=none (default: 3)
#
# What is studied runs already, started by this script and not by whyslow; it goes on after whyslow has left, and says
# on stderr what it did in each second.
. "$(dirname "$0")/../session.sh"
choose_variant slow go fixed go-fixed nginx -- "$@"
port=$(free_port)
# Should this script be killed outright: neither end outlives this by much.
lifetime=300
started=()
end_started() {
    local one
    for one in "${started[@]}"; do kill "$one" 2>/dev/null || true; wait "$one" 2>/dev/null || true; done
}
trap 'end_started; leave' EXIT

listening() { # PORT
    "$PYTHON" -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()' "$1" 2>/dev/null
}

start() { # COMMAND...: in the background, what it prints to $STATE/printed. Sets LAST.
    "$@" >>"$STATE/printed" 2>&1 &
    LAST=$!
    started+=("$LAST")
}

start_server() { # COMMAND...: and waits until it listens. Sets LAST.
    local turn
    start "$@"
    for ((turn = 0; turn < 100; turn++)); do
        if listening "$port"; then return; fi
        sleep 0.1
    done
    echo "run.sh: the server does not listen" >&2
    cat "$STATE/printed" >&2
    exit 2
}

# When a process began, in ticks: with its number, that it is still the same.
birth() { # PID
    sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20
}

attach() { # PID
    local status=0
    if [ "$WHYSLOW" = none ]; then sleep "${SECONDS_BARE:-3}"; else "$WHYSLOW" attach "$1" "${OPTIONS[@]}" || status=$?; fi
    return "$status"
}

attach_to_client() {
    local client=$LAST born status=0
    born=$(birth "$client")
    # Three seconds before, and two after: what it does by itself.
    sleep 3
    attach "$client" || status=$?
    sleep 2
    if [ "$(birth "$client" 2>/dev/null)" != "$born" ]; then
        echo "live: the client has ended" >&2
        cat "$STATE/printed" >&2
        exit 2
    fi
    echo "live: process $client still runs; requests in each second: $(paste -sd' ' "$STATE/printed")" >&2
    return "$status"
}

# A busy nginx, and whether a single request was lost while whyslow came, looked and left.
attach_to_nginx() {
    local nginx status=0
    start_server "$CASEBOOK/serve-nginx.sh" "$CASEBOOK/nginx.conf" "$STATE" 127.0.0.1 "$port" plain
    nginx=$LAST
    # Far more requests than there is time for: it is interrupted, and then says how it went.
    ab -q -k -c 4 -n 20000000 "http://127.0.0.1:$port/hello" >"$STATE/ab" 2>&1 &
    started+=("$!")
    local ab=$!
    sleep 1
    attach "$nginx" || status=$?
    sleep 1
    kill -INT "$ab" 2>/dev/null || true
    wait "$ab" || true
    grep -E '^(Complete|Failed|Non-2xx)' "$STATE/ab" | sed 's/^/live: /' >&2
    return "$status"
}

build_go() {
    PATH=$PATH:/usr/local/go/bin
    need go
    (cd "$STATE" && GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build} go build -o client "$CASEBOOK/live/client.go")
}

if [ "$VARIANT" = nginx ]; then
    need nginx openssl ab
    make_certificate
    attach_to_nginx
    exit
fi
case $VARIANT in go*) build_go ;; esac
start_server "$PYTHON" "$CASEBOOK/live/server.py" 127.0.0.1 "$port" "$lifetime"
case $VARIANT in
slow) start "$PYTHON" "$CASEBOOK/live/client.py" 127.0.0.1 "$port" "$lifetime" ;;
fixed) start "$PYTHON" "$CASEBOOK/live/fixed.py" 127.0.0.1 "$port" "$lifetime" ;;
go) start "$STATE/client" 127.0.0.1 "$port" "$lifetime" ;;
go-fixed) start "$STATE/client" 127.0.0.1 "$port" "$lifetime" nodelay ;;
esac
attach_to_client
