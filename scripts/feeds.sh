#!/bin/bash
# feeds.sh BINARIES [FEEDS NAMES]: refreshes a farm of feeds: two rounds in one process, then one that is killed half-way and
# gone on with; then curl over the same list, and newsboat, where they are installed; each time with what the farm was asked.
# Ends with 1 where something is not as it should be.
set -euo pipefail

binaries=$(realpath "$1")
shift
folder=$(mktemp -d)
ulimit -n "$(ulimit -H -n)"
coproc FARM { exec "$binaries/farm" "$folder" "$@"; }
farm=$FARM_PID
trap 'kill "$farm" 2>/dev/null || true; rm -rf "$folder"' EXIT
read -r said <&"${FARM[0]}"
echo "farm: $said"

# What the farm was asked since the last time.
asked() {
    echo >&"${FARM[1]}"
    read -r said <&"${FARM[0]}"
    echo "farm: $said"
}

refresh() {
    # Status 1 says that feeds have failed, as some here do.
    "$binaries/whyslow" feeds refresh "$folder/feeds.txt" --hosts "$folder/hosts" --cacert "$folder/ca.pem" \
        --database "$folder/$1.redb" --connections 1000 "${@:2}" || [ $? -eq 1 ]
}

# A figure of a round, from its JSON.
figure() {
    python3 -c 'import json, sys; print(eval(sys.argv[2], {"rounds": json.load(open(sys.argv[1]))["rounds"]}))' "$1" "$2"
}

echo "== two rounds"
refresh two --rounds 2 --every 1s -o "$folder/two.json"
asked
times=$(figure "$folder/two.json" 'round(rounds[0]["cpu_ns"] / rounds[1]["cpu_ns"], 2)')
echo "CPU time, first / second round: $times"

echo "== a second process: sessions of TLS are not kept, what is known of feeds is"
refresh two
asked

echo "== killed half-way, and gone on with"
"$binaries/whyslow" feeds refresh "$folder/feeds.txt" --hosts "$folder/hosts" --cacert "$folder/ca.pem" \
    --database "$folder/killed.redb" --connections 1000 >/dev/null &
child=$!
feeds=$(wc -l <"$folder/feeds.txt")
before=0
while ((before < feeds / 2)); do
    sleep 0.1
    asked >/dev/null
    said=${said#asked }
    before=$((before + ${said%% *}))
done
kill -KILL "$child"
wait "$child" || true
echo "killed after $before requests"
asked
refresh killed -o "$folder/rest.json" | head -8
asked
figure "$folder/rest.json" '"seen to before the kill: %d, after it: %d" % (rounds[0]["done_before"], sum(rounds[0]["outcomes"].values()))'

# Where names come from the system, /etc/hosts is another file to one command alone.
with_names() { # COMMAND
    unshare --mount sh -c "mount --bind '$folder/hosts' /etc/hosts && exec $1"
}

if command -v curl >/dev/null; then
    echo "== curl --parallel over the same list: without conditions, decoding, parsing or memory"
    awk '{ print "url = \"" $0 "\"\noutput = \"/dev/null\"" }' "$folder/feeds.txt" >"$folder/curl.txt"
    TIMEFORMAT='curl: %R s, CPU %U user + %S system'
    fetch="curl --silent --no-progress-meter --parallel --parallel-max 256 --compressed --max-time 30 --cacert $folder/ca.pem --config $folder/curl.txt"
    if [ "$(id -u)" = 0 ]; then
        time with_names "$fetch" || true
    else
        # Its option resolves one name each, and goes through all of them for each feed.
        port=$(sed -n '1s,.*:\([0-9]*\)/.*,\1,p' "$folder/feeds.txt")
        awk -v port="$port" '{ print "resolve = \"" $2 ":" port ":" $1 "\"" }' "$folder/hosts" >"$folder/resolve.txt"
        time $fetch --config "$folder/resolve.txt" || true
    fi
    asked
fi

# An aggregator as people have it.
if command -v newsboat >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "== newsboat over the same list, twice: the second time with what it knows"
    echo "reload-threads 64
download-timeout 30" >"$folder/newsboat.conf"
    TIMEFORMAT='newsboat: %R s, CPU %U user + %S system'
    for _ in 1 2; do
        time CURL_CA_BUNDLE=$folder/ca.pem with_names "newsboat --url-file='$folder/feeds.txt' \
            --cache-file='$folder/newsboat.db' --config-file='$folder/newsboat.conf' --execute=reload" >/dev/null || true
        asked
    done
fi
