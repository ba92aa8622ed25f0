#!/bin/bash
# Runs client.py with a resolv.conf of its own, in a mount namespace that ends with it.
# Usage: client.sh PYTHON SERVER HOSTS STATE [SEARCH]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ndots=1
if [ -n "${5:-}" ]; then ndots=5; fi
printf 'nameserver %s\noptions timeout:1 ndots:%s\n%s\n' "$2" "${ndots}" "${5:+search $5}" >"$4/resolv.conf"
exec unshare --mount bash -c 'mount --bind "$1" "$(readlink -f /etc/resolv.conf)" && exec "$2" "$3" "$4"' \
    bash "$4/resolv.conf" "$1" "$here/client.py" "$3"
