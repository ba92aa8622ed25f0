#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
# Connections that are open and say nothing, and a descriptor for each of them at both ends.
idle=3000 requests=300
if [ "$(ulimit -H -n)" != unlimited ] && [ "$(ulimit -H -n)" -lt 4000 ]; then
    echo "skipped: this needs 4,000 descriptors, and ulimit -H -n says $(ulimit -H -n)" >&2
    exit 77
fi
ulimit -S -n 4000
how=poll
if [ "$VARIANT" = fixed ]; then how=epoll requests=2000; fi
port=$(free_port)
watch --server "$PYTHON $CASEBOOK/thousands/server.py {server} $port $how" -- \
    "$PYTHON" "$CASEBOOK/thousands/client.py" {server} "$port" "$idle" "${REQUESTS:-$requests}"
