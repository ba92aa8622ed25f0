#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
# As root only: a resolv.conf of one's own needs a mount namespace, and a name server port 53.
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need unshare mount apache2
if [ "$(id -u)" != 0 ]; then echo "skipped: not root" >&2; exit 77; fi
port=$(free_port)
unwanted=spam.example pages=60
if [ "$VARIANT" = fixed ]; then unwanted= pages=1000; fi
mkdir "$STATE/files"
echo hello >"$STATE/files/hello"
chmod 755 "$STATE"
watch --link mtu=1500 --server "bash $CASEBOOK/reverse-lookup/server.sh $PYTHON {server} $port $STATE $unwanted" -- \
    "$PYTHON" "$CASEBOOK/reverse-lookup/client.py" {server} "$port" "${REQUESTS:-$pages}"
