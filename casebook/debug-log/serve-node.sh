#!/bin/sh
# Starts the server of Node.js, its messages in STATE/log. Usage: serve-node.sh STATE ADDRESS PORT [NODE_DEBUG]
if [ $# -gt 3 ]; then export NODE_DEBUG="$4"; fi
exec node "$(dirname "$0")/server.mjs" "$2" "$3" 2>"$1/log"
