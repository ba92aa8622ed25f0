#!/bin/bash
# Usage: run.sh [slow|alike] [options of whyslow bisect]
# ROUNDS  how many are made in each release (12)
# FEEDS   how many there are (60)
# CHART   a page to draw the rounds on, with the moment of the change
. "$(dirname "$0")/../session.sh"
choose_variant slow alike -- "$@"
# The server of feeds is a program of the tests: it is built, and not installed.
FARM=${FARM:-$(dirname "$WHYSLOW")/farm}
if [ "$WHYSLOW" = none ]; then FARM=$CASEBOOK/../target/release/farm; fi
need "$FARM"
ulimit -n "$(ulimit -H -n)"
# Half as many names as feeds; answers of slow ones take some 20 ms, since a round here is to be one of seconds.
coproc FARMING { exec "$FARM" "$STATE" "${FEEDS:-60}" "$((${FEEDS:-60} / 2))" 20; }
server_pid=$FARMING_PID
read -r said <&"${FARMING[0]}"
echo "$said" >&2
# Roots that a distribution trusts, and behind them the farm's: all of it is read for each context.
cat /etc/ssl/certs/ca-certificates.crt "$STATE/ca.pem" >"$STATE/bundle.pem"
export SSL_CERT_FILE=$STATE/bundle.pem
bot=("$CASEBOOK/feeds/bot.py" "$STATE/hosts" "$STATE/feeds.txt")
if [ "$WHYSLOW" = none ]; then "$PYTHON" "${bot[@]}" "${ROUNDS:-2}"; exit; fi

good=debian:bullseye bad=debian:bookworm packages=(--package python3 --package ca-certificates)
if [ "$VARIANT" = alike ]; then good=$bad; fi
hand_over_state

# The history: rounds before the upgrade, and rounds after it.
rounds_in() { # WORLD
    "$WHYSLOW" world run "$1" "${packages[@]}" -- /usr/bin/python3 "${bot[@]}" "${ROUNDS:-12}" >>"$STATE/rounds.txt"
}
rounds_in "$good"
upgraded=$(date +%s.%N)
rounds_in "$bad"
# A round's CPU time: how long it takes hangs on how many cores are free as well, since OpenSSL 3 reads bundles side by side.
shape=(--pattern 'time=(?P<time>[0-9.]+) .*cpu_s=(?P<value>[0-9.]+)')
drawn=()
if [ -n "${CHART:-}" ]; then drawn=(-o "$CHART"); fi
"$WHYSLOW" steps "${shape[@]}" "${drawn[@]}" "$STATE/rounds.txt" >&2 || [ $? -eq 1 ]
"$WHYSLOW" steps "${shape[@]}" --json "$STATE/rounds.txt" >"$STATE/steps.json" || [ $? -eq 1 ]
"$PYTHON" "$CASEBOOK/feeds/moment.py" "$STATE/steps.json" "$STATE/rounds.txt" "$upgraded" "$VARIANT" >&2

# Each run asks twice: for all there is, and for what has changed since.
bisect --good "$good" --bad "$bad" "${packages[@]}" -- /usr/bin/python3 "${bot[@]}" 2
