#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need php
port=$(free_port)
"$PYTHON" "$CASEBOOK/sources/make.py" "$STATE/shop" 200
cache=0
if [ "$VARIANT" = fixed ]; then cache=1; fi
# Files that are younger than two seconds are not cached otherwise.
printf '%s\n' "opcache.enable=$cache" opcache.validate_timestamps=0 opcache.file_update_protection=0 >"$STATE/php.ini"
watch --server "php -q -c $STATE/php.ini -S {server}:$port $STATE/shop/page.php" -- \
    "$PYTHON" "$CASEBOOK/sources/client.py" {server} "$port" "${REQUESTS:-200}"
