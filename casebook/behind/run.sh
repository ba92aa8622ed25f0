#!/bin/bash
# Usage: run.sh [slow|unix|fixed] [options of whyslow run]
# REQUESTS  how many pages are asked for (default 300)
. "$(dirname "$0")/../session.sh"
choose_variant slow unix fixed -- "$@"
need nginx
port=$(free_port)
behind=127.0.0.1:$(free_port)
if [ "$VARIANT" = unix ]; then behind=unix:$STATE/service.sock; fi
cat >"$STATE/nginx.conf.in" <<END
daemon off;
worker_processes 1;
pid @STATE@/nginx.pid;
error_log @STATE@/error.log;
events { worker_connections 512; }
http {
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path @STATE@/body;
    proxy_temp_path @STATE@/proxy;
    fastcgi_temp_path @STATE@/fastcgi;
    uwsgi_temp_path @STATE@/uwsgi;
    scgi_temp_path @STATE@/scgi;
    upstream service { server $behind; keepalive 8; keepalive_requests 1000000; }
    server {
        listen @ADDRESS@:@PORT@;
        location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }
}
END
cat >"$STATE/serve.sh" <<END
#!/bin/bash
# The service, and once it is there, the proxy before it.
rm -f $STATE/ready
"$PYTHON" $CASEBOOK/behind/service.py ${behind#unix:} $STATE $VARIANT &
until [ -e $STATE/ready ]; do sleep 0.02; done
exec $CASEBOOK/serve-nginx.sh $STATE/nginx.conf.in $STATE \$1 $port
END
chmod 755 "$STATE" "$STATE/serve.sh"
watch --server "$STATE/serve.sh {server}" -- "$PYTHON" "$CASEBOOK/behind/client.py" {server} "$port" "${REQUESTS:-300}"
