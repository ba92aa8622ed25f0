#!/bin/bash
# Usage: run.sh [slow|fixed] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow fixed -- "$@"
need php
port=$(free_port)
mkdir "$STATE/sessions"
page=page.php
if [ "$VARIANT" = fixed ]; then page=fixed.php; fi
export PHP_CLI_SERVER_WORKERS=6
watch --server "php -q -d session.save_path=$STATE/sessions -S {server}:$port $CASEBOOK/sessions/$page" -- \
    "$PYTHON" "$CASEBOOK/sessions/client.py" {server} "$port" "${REQUESTS:-120}"
