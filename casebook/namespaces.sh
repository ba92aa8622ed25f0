# Sourced by the stories that do without whyslow's own --link: joins two network namespaces by a link of MTU 1500.
#
# Sets CLIENT and SERVER, the namespaces; in them the addresses 192.0.2.1 and 192.0.2.2, each on eth0. They go with the script.
# Exits with 77 where whyslow is not wanted, or root is missing.

need ip
if [ "$WHYSLOW" = none ] || [ "$(id -u)" != 0 ]; then
    echo "skipped: this needs whyslow, and root for the network namespaces" >&2
    exit 77
fi
CLIENT=whyslow-story-client-$$ SERVER=whyslow-story-server-$$
leave_namespaces() {
    ip netns del "$CLIENT" 2>/dev/null || true
    ip netns del "$SERVER" 2>/dev/null || true
    leave
}
trap leave_namespaces EXIT
ip netns add "$CLIENT"
ip netns add "$SERVER"
ip link add eth0 netns "$CLIENT" mtu 1500 type veth peer name eth0 netns "$SERVER"
ip -n "$CLIENT" addr add 192.0.2.1/24 dev eth0
ip -n "$SERVER" addr add 192.0.2.2/24 dev eth0
for one in "$CLIENT" "$SERVER"; do
    ip -n "$one" link set eth0 up
    ip -n "$one" link set lo up
done

# Waits until somebody listens in the server's namespace. Asking by connecting would be taken for a client.
await_listener() { # PORT
    local port
    port=$(printf %04X "$1")
    until ip netns exec "$SERVER" grep -qs ":$port [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done
}
