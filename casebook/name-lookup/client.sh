#!/bin/bash
# Runs client.py with a resolv.conf of its own, in a mount namespace that ends with it.
# Usage: client.sh PYTHON SERVER HOSTS STATE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
printf 'nameserver %s\noptions timeout:1\n' "$2" >"$4/resolv.conf"
exec unshare --mount bash -c 'mount --bind "$1" "$(readlink -f /etc/resolv.conf)" && exec "$2" "$3" "$4"' \
    bash "$4/resolv.conf" "$1" "$here/client.py" "$3"
