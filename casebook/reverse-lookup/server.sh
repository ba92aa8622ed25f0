#!/bin/bash
# A name server that answers after 20 ms, as one far away does, and Apache httpd that asks it, in a mount namespace of their own.
# Usage: server.sh PYTHON ADDRESS PORT STATE [NAME]
# Visitors from hosts of that NAME are turned away: their names have to be known before they are answered.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
state=$4
printf 'nameserver %s\n' "$2" >"$state/resolv.conf"
cat >"$state/apache.conf" <<CFG
ServerRoot $state
ServerName casebook.test
PidFile $state/apache.pid
ErrorLog $state/apache.log
Listen $2:$3
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule authz_host_module /usr/lib/apache2/modules/mod_authz_host.so
ThreadsPerChild 5
MaxRequestWorkers 5
User www-data
Group www-data
DocumentRoot $state/files
<Location "/">
  <RequireAll>
    Require all granted
    ${5:+Require not host $5}
  </RequireAll>
</Location>
CFG
"$1" "$here/../name-lookup/resolver.py" "$2" far 60 &
exec unshare --mount bash -c 'mount --bind "$1/resolv.conf" "$(readlink -f /etc/resolv.conf)" && exec apache2 -X -f "$1/apache.conf"' \
    bash "$state"
