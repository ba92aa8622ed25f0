#!/bin/sh
# Starts one nginx process in the foreground from a template. Usage: serve-nginx.sh TEMPLATE STATE ADDRESS PORT [tls]
# The template's @STATE@, @ADDRESS@, @PORT@ and @TLS@ (`ssl` with a fifth argument tls) are filled in; all files stay in STATE.
set -eu
PATH=$PATH:/usr/sbin:/sbin
tls=; if [ "${5:-}" = tls ]; then tls=ssl; fi
sed -e "s|@STATE@|$2|g" -e "s|@ADDRESS@|$3|g" -e "s|@PORT@|$4|g" -e "s|@TLS@|$tls|g" "$1" >"$2/nginx.conf"
exec nginx -e "$2/error.log" -p "$2" -c "$2/nginx.conf"
