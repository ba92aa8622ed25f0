#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow pcap]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl tcpdump ip
if [ "$WHYSLOW" = none ]; then
    echo "skipped: without whyslow there is nobody to read the capture" >&2
    exit 77
fi
if [ "$(id -u)" != 0 ]; then
    echo "skipped: only root can create the network namespaces" >&2
    exit 77
fi
make_certificate
chmod a+rX "$STATE"
client=whyslow-capture-client-$$ server=whyslow-capture-server-$$
leave_namespaces() {
    ip netns del "$client" 2>/dev/null || true
    ip netns del "$server" 2>/dev/null || true
    leave
}
trap leave_namespaces EXIT
join_namespaces "$client" "$server"
ip netns exec "$server" sh "$CASEBOOK/serve-nginx.sh" "$CASEBOOK/nagle/nginx.conf" "$STATE" 192.0.2.2 8443 tls &
server_pid=$!
ip netns exec "$client" tcpdump --immediate-mode -Z root -i eth0 -U -w "$STATE/capture.pcap" tcp 2>"$STATE/tcpdump.log" &
tcpdump_pid=$!
until grep -q listening "$STATE/tcpdump.log"; do sleep 0.05; done
# 8443 is 20FB in the kernel's table, 0A listening.
until ip netns exec "$server" cat /proc/net/tcp | grep -q ':20FB [0-9A-F:]* 0A'; do sleep 0.05; done
program=client.py
if [ "$VARIANT" = fixed ]; then program=fixed.py; fi
ip netns exec "$client" "$PYTHON" "$CASEBOOK/nagle/$program" 192.0.2.2 8443 "$STATE/certificate.pem" "${REQUESTS:-100}" >&2
# What was captured last is written within this time.
sleep 0.3
kill "$tcpdump_pid"
wait "$tcpdump_pid" || true
status=0
"$WHYSLOW" pcap "$STATE/capture.pcap" "${OPTIONS[@]}" || status=$?
exit "$status"
