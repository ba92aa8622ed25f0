#!/bin/bash
# Usage: run.sh [delayed|refused|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant delayed refused fixed -- "$@"
need nginx
mkdir "$STATE/files"
echo page >"$STATE/files/page"
port=$(free_port)
limit= rounds=25
if [ "$VARIANT" = delayed ]; then limit='limit_req zone=all burst=20;'; fi
if [ "$VARIANT" = refused ]; then limit='limit_req zone=all;'; fi
if [ "$VARIANT" = fixed ]; then rounds=500; fi
sed "s|@LIMIT@|$limit|" "$CASEBOOK/rate-limit/nginx.conf" >"$STATE/template.conf"
watch --server "$CASEBOOK/serve-nginx.sh $STATE/template.conf $STATE {server} $port" -- \
    "$PYTHON" "$CASEBOOK/rate-limit/client.py" {server} "$port" "${REQUESTS:-$rounds}"
