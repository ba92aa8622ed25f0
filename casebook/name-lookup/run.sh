#!/bin/bash
# Usage: run.sh [slow|search|fixed] [options of whyslow run]
# As root only: a resolv.conf of one's own needs a mount namespace, and a name server port 53.
. "$(dirname "$0")/../session.sh"
choose_variant slow search fixed -- "$@"
need unshare mount
if [ "$(id -u)" != 0 ]; then echo "skipped: not root" >&2; exit 77; fi
resolver=deaf hosts=5
if [ "$VARIANT" = fixed ]; then resolver=sound hosts=200; fi
# As Kubernetes sets it up: each name with fewer than five dots is first looked for in the cluster.
search=()
if [ "$VARIANT" = search ]; then resolver=far hosts=20 search=("default.svc.cluster.local svc.cluster.local cluster.local"); fi
watch --link mtu=1500 --server "$PYTHON $CASEBOOK/name-lookup/resolver.py {server} $resolver 60" -- \
    bash "$CASEBOOK/name-lookup/client.sh" "$PYTHON" {server} "${REQUESTS:-$hosts}" "$STATE" "${search[@]}"
