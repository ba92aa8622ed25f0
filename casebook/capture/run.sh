#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow pcap]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need nginx openssl tcpdump
. "$CASEBOOK/namespaces.sh"
make_certificate
chmod a+rX "$STATE"
ip netns exec "$SERVER" sh "$CASEBOOK/serve-nginx.sh" "$CASEBOOK/nagle/nginx.conf" "$STATE" 192.0.2.2 8443 tls &
server_pid=$!
ip netns exec "$CLIENT" tcpdump --immediate-mode -Z root -i eth0 -U -w "$STATE/capture.pcap" tcp 2>"$STATE/tcpdump.log" &
tcpdump_pid=$!
until grep -q listening "$STATE/tcpdump.log"; do sleep 0.05; done
await_listener 8443
program=client.py
if [ "$VARIANT" = fixed ]; then program=fixed.py; fi
ip netns exec "$CLIENT" "$PYTHON" "$CASEBOOK/nagle/$program" 192.0.2.2 8443 "$STATE/certificate.pem" "${REQUESTS:-100}" >&2
# What was captured last is written within this time.
sleep 0.3
kill "$tcpdump_pid"
wait "$tcpdump_pid" || true
status=0
"$WHYSLOW" pcap "$STATE/capture.pcap" "${OPTIONS[@]}" || status=$?
exit "$status"
