#!/bin/bash
# Usage: run.sh [slow|cipher|fixed] [options of whyslow attach or compare]
#
# slow    one tunnel with AES-256-CBC, busy all the time: what is its process waiting for?
# cipher  A: AES-256-CBC, B: AES-256-GCM, by how much goes through for a second of the sender's CPU time
# fixed   the same with AES-256-GCM on both sides
. "$(dirname "$0")/../session.sh"
choose_variant slow cipher fixed -- "$@"
need openvpn iperf3 nsenter openssl
if [ ! -e /dev/net/tun ]; then
    echo "skipped: this needs /dev/net/tun" >&2
    exit 77
fi
. "$CASEBOOK/namespaces.sh"
started=()
leave_tunnels() {
    local one
    for one in "${started[@]}"; do kill "$one" 2>/dev/null || true; done
    for one in "${started[@]}"; do wait "$one" 2>/dev/null || true; done
    leave_namespaces
}
trap leave_tunnels EXIT
make_certificate
fingerprint=$(openssl x509 -in "$STATE/certificate.pem" -noout -fingerprint -sha256 | cut -d= -f2)

in_namespace() { # NAME COMMAND...: in the background. Sets LAST. Not by `ip netns exec`: that hides the control groups.
    local namespace=$1
    shift
    nsenter --net="/run/netns/$namespace" "$@" >>"$STATE/printed" 2>&1 &
    LAST=$!
    started+=("$LAST")
}

# A tunnel of its own: 10.9.NUMBER.1 at the client, .2 at the server. Sets SENDER to the client's process.
tunnel() { # NUMBER CIPHER
    local number=$1 cipher=$2 turn
    local common=(openvpn --dev "vpn$number" --dev-type tun --disable-dco --proto udp --port "$((11940 + number))" --verb 1
        --cert "$STATE/certificate.pem" --key "$STATE/key.pem" --peer-fingerprint "$fingerprint" --auth SHA256
        --data-ciphers "$cipher" --sndbuf 1048576 --rcvbuf 1048576)
    in_namespace "$SERVER" "${common[@]}" --tls-server --dh none --ifconfig "10.9.$number.2" "10.9.$number.1"
    in_namespace "$CLIENT" "${common[@]}" --tls-client --remote 192.0.2.2 --ifconfig "10.9.$number.1" "10.9.$number.2"
    SENDER=$LAST
    in_namespace "$SERVER" iperf3 -s -p "$((5200 + number))"
    # Both ends of each tunnel say so.
    for ((turn = 0; turn < 200; turn++)); do
        if [ "$(grep -c 'Initialization Sequence Completed' "$STATE/printed")" = $((2 * number)) ]; then return; fi
        sleep 0.05
    done
    echo "run.sh: the tunnel with $cipher does not come up" >&2
    cat "$STATE/printed" >&2
    exit 2
}

transfer() { # NUMBER SENDER: the command that sends through a tunnel.
    echo "$BASH $CASEBOOK/vpn/transfer.sh 10.9.$1.2 $((5200 + $1)) ${MEGABYTES:-150} $2"
}

status=0
if [ "$VARIANT" = slow ]; then
    tunnel 1 AES-256-CBC
    # Far more than there is time for.
    in_namespace "$CLIENT" iperf3 -c 10.9.1.2 -p 5201 -t 600
    sleep 1
    "$WHYSLOW" attach "$SENDER" --duration 4s "${OPTIONS[@]}" || status=$?
    exit "$status"
fi
first=AES-256-CBC
if [ "$VARIANT" = fixed ]; then first=AES-256-GCM; fi
tunnel 1 "$first"
a=$(transfer 1 "$SENDER")
tunnel 2 AES-256-GCM
read -ra b <<<"$(transfer 2 "$SENDER")"
nsenter --net="/run/netns/$CLIENT" "$WHYSLOW" compare --metric 'stdout-more:([0-9.]+) MB per CPU-second' \
    "${OPTIONS[@]}" "$a" -- "${b[@]}" || status=$?
exit "$status"
