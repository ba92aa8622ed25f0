#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow watch, or of whyslow attach for `fixed`]
#
# Two services with the same document, gopher and gemini, and the same readers. Both run already; whyslow looks on. Of `fixed`
# watching must say nothing for as long as it takes to find the other; then one of them is recorded all the same.
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need openssl
make_certificate
gopher=$(free_port)
gemini=$(free_port)
# Should this script be killed outright: nothing outlives this by much.
lifetime=150
started=()
end_started() {
    local one
    for one in "${started[@]}"; do kill "$one" 2>/dev/null || true; wait "$one" 2>/dev/null || true; done
}
trap 'end_started; leave' EXIT

start() { # COMMAND...: in the background, what it prints to $STATE/printed
    "$@" >>"$STATE/printed" 2>&1 &
    started+=("$!")
}

listening() { # PORT
    "$PYTHON" -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()' "$1" 2>/dev/null
}

await() { # PORT
    local turn
    for ((turn = 0; turn < 100; turn++)); do
        if listening "$1"; then return; fi
        sleep 0.1
    done
    echo "run.sh: nothing listens on port $1" >&2
    cat "$STATE/printed" >&2
    exit 2
}

program=gopher.py
if [ "$VARIANT" = fixed ]; then program=fixed.py; fi
folder=$CASEBOOK/two-services
start "$PYTHON" "$folder/$program" 127.0.0.1 "$gopher" "$lifetime"
start "$PYTHON" "$folder/gemini.py" 127.0.0.1 "$gemini" "$lifetime" "$STATE/certificate.pem" "$STATE/key.pem"
await "$gopher"
await "$gemini"
start "$PYTHON" "$folder/client.py" gopher 127.0.0.1 "$gopher" "$lifetime" 2
start "$PYTHON" "$folder/client.py" gemini 127.0.0.1 "$gemini" "$lifetime" 2

hand_over_state
watch_both() { # OPTION...
    "$WHYSLOW" watch --every 5s --history "$STATE/history" "$@" ":$gopher" ":$gemini"
}
if [ "$WHYSLOW" = none ]; then
    sleep "${SECONDS_BARE:-3}"
    exit
fi
if [ "$VARIANT" = slow ]; then
    # It ends as soon as the odd one was found and recorded; not to have found it within a minute is to have failed.
    watch_both --duration 60s --record-on-change --until-recorded "${OPTIONS[@]}"
else
    watch_both --duration 40s >&2
    "$WHYSLOW" attach --port "$gopher" --duration 3s --no-prove "${OPTIONS[@]}"
fi
