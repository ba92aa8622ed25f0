#!/bin/bash
# Usage: run.sh [slow|prefork|fixed|event] [options of whyslow run]
. "$(dirname "$0")/../session.sh"
choose_variant slow prefork fixed event -- "$@"
port=$(free_port)

# Apache with two workers: processes, or threads beside one that watches idle connections.
apache() { # MODULE LIMITS
    need apache2
    mkdir "$STATE/files"
    echo hello >"$STATE/files/hello"
    chmod 755 "$STATE"
    cat >"$STATE/serve.sh" <<END
#!/bin/bash
cat >$STATE/apache.conf <<CFG
ServerRoot $STATE
ServerName casebook.test
PidFile $STATE/apache.pid
ErrorLog $STATE/apache.log
Listen \$1:$port
LoadModule mpm_$1_module /usr/lib/apache2/modules/mod_mpm_$1.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
$2
MaxRequestWorkers 2
KeepAliveTimeout 5
User www-data
Group www-data
DocumentRoot $STATE/files
CFG
exec /usr/sbin/apache2 -DFOREGROUND -f $STATE/apache.conf
END
    chmod 755 "$STATE/serve.sh"
    SERVER="$STATE/serve.sh {server}"
}

case $VARIANT in
slow) SERVER="$PYTHON $CASEBOOK/kept/server.py {server} $port one" ;;
fixed) SERVER="$PYTHON $CASEBOOK/kept/server.py {server} $port many" ;;
prefork) apache prefork $'StartServers 2\nServerLimit 2\nMinSpareServers 1\nMaxSpareServers 2' ;;
event) apache event $'StartServers 1\nServerLimit 1\nThreadsPerChild 2\nMinSpareThreads 1\nMaxSpareThreads 2\nAsyncRequestWorkerFactor 8' ;;
esac
watch --server "$SERVER" -- "$PYTHON" "$CASEBOOK/kept/client.py" {server} "$port" 5
