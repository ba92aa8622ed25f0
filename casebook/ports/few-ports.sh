#!/bin/sh
# Leaves the network namespace that it is started in 50 local ports, which can be used again a second after their last use, and
# becomes the client. Usage: few-ports.sh CLIENT...
set -eu
echo 40000 40049 >/proc/sys/net/ipv4/ip_local_port_range
echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse
exec "$@"
