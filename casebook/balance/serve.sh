#!/bin/bash
# haproxy and its three servers, in the foreground. Usage: serve.sh PYTHON STATE ADDRESS PORT roundrobin|leastconn SECONDS
# Listens on PORT only once all of them are ready; ends them all when it is ended.
set -eu
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
state=$(mktemp -d "$2/balance.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$state"' EXIT
trap 'exit 143' TERM INT
"$1" "$here/backends.py" "$state" "$6" &
sed -e "s|@STATE@|$state|g" -e "s|@ADDRESS@|$3|g" -e "s|@PORT@|$4|g" -e "s|@ALGORITHM@|$5|g" "$here/haproxy.cfg" >"$state/haproxy.cfg"
for ((turn = 0; turn < 500; turn++)); do
    if [ -S "$state/backend3.sock" ]; then break; fi
    sleep 0.01
done
haproxy -db -f "$state/haproxy.cfg" &
wait -n
