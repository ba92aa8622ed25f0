#!/bin/bash
# Usage: transfer.sh ADDRESS PORT MEGABYTES PROCESS
# Sends so much through a tunnel and prints how much that was for a second of CPU time of the tunnel's process.
set -euo pipefail
cpu() { cut -d' ' -f1 "/proc/$4/schedstat"; }
before=$(cpu "$@")
begin=$(date +%s%N)
iperf3 -c "$1" -p "$2" -n "${3}M" >/dev/null
after=$(cpu "$@")
end=$(date +%s%N)
awk -v sent="$3" -v cpu="$((after - before))" -v wall="$((end - begin))" 'BEGIN {
    printf "%.1f MB per CPU-second, %.0f %% of a CPU\n", sent * 1.048576 / cpu * 1e9, cpu / wall * 100
}'
