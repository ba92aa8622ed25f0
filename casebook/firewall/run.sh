#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
PATH=$PATH:/usr/sbin:/sbin
need nginx nft
if [ "$WHYSLOW" = none ] || [ "$(id -u)" != 0 ]; then
    echo "skipped: rules are set only in namespaces of whyslow's own, as root" >&2
    exit 77
fi
mkdir "$STATE/files"
head -c 2000 /dev/zero >"$STATE/files/page"
port=$(free_port)
known=
if [ "$VARIANT" = fixed ]; then known="ct state established,related accept"; fi
# A rule for each address that was banned once. They go with the server's namespace.
{
    printf 'table inet banned {\nchain input {\ntype filter hook input priority 0; policy accept\n%s\n' "$known"
    for ((n = 0; n < 3000; n++)); do echo "ip saddr 198.18.$((n / 250)).$((n % 250)) tcp dport $port drop"; done
    printf '}\n}\n'
} >"$STATE/rules"
cat >"$STATE/serve.sh" <<END
#!/bin/sh
set -eu
nft -f "$STATE/rules"
exec "$CASEBOOK/serve-nginx.sh" "$CASEBOOK/idle/nginx.conf" "$STATE" "\$1" "$port"
END
watch --link mtu=1500 --server "sh $STATE/serve.sh {server}" -- \
    "$PYTHON" "$CASEBOOK/ask.py" {server} "$port" /page "${REQUESTS:-1500}"
