#!/bin/bash
# Usage: run.sh [PROGRAM] [options of whyslow run]
# Servers and tools as Debian packages them, under a load that they bear: what whyslow must not accuse.
# SECONDS_OF_LOAD  how long those are driven that take a time (default 2)
. "$(dirname "$0")/../session.sh"
choose_variant memcached postgresql pgbouncer mariadb haproxy apache lighttpd varnish stunnel nginx-http2 caddy h2o gunicorn \
    aiohttp tornado uwsgi node-server puma starman mosquitto beanstalkd rsync sftp vsftpd git iperf3 dnsmasq smtp \
    tinyproxy siege wget aria2 redis-pipeline pipeline squid nghttpx haproxy-tls hitch hey axel lftp curl-parallel unbound \
    bind uvicorn waitress twisted mojolicious php-fpm svnserve etcd slapd ssh-tunnel -- "$@"
here=$CASEBOOK/services
port=$(free_port)
behind=$(free_port)
seconds=${SECONDS_OF_LOAD:-2}

# A script that fills in the server's address and runs what stands on standard input: {server} as $1. Sets SERVER.
serve() {
    { echo '#!/bin/bash'; echo 'set -eu; PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin; address=$1'; cat; } >"$STATE/serve.sh"
    chmod 755 "$STATE" "$STATE/serve.sh"
    SERVER="$STATE/serve.sh {server}"
}

# nginx with the page /hello and files; as a word of a script of `serve`.
nginx_behind() { # PORT
    make_certificate
    mkdir -p "$STATE/files"
    echo "$CASEBOOK/serve-nginx.sh $CASEBOOK/nginx.conf $STATE \$address $1"
}

# Files to transfer: 200 of 20 kB, and one of 64 MB.
files() {
    mkdir -p "$STATE/files/small"
    for i in $(seq 200); do head -c 20k /dev/urandom >"$STATE/files/small/$i"; done
    head -c 64M /dev/zero >"$STATE/files/large"
}

load() { watch --server "$SERVER" -- "$@"; }
url=http://{server}:$port/hello

case $VARIANT in
memcached)
    need memcached memcslap
    serve <<<"exec memcached -u nobody -l \$address -p $port"
    load memcslap --servers="{server}:$port" --concurrency=4 --execute-number=4000 --test=get ;;
postgresql | pgbouncer)
    need pgbench
    bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
    mkdir "$STATE/data"
    chown postgres "$STATE/data"
    chmod 755 "$STATE"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    $as "$bin/initdb" -D "$STATE/data" -A trust >/dev/null
    $as "$bin/pg_ctl" -D "$STATE/data" -w -s -l "$STATE/data/log" -o "-h 127.0.0.1 -p $behind -k $STATE/data" start
    pgbench -q -i -s 5 -h 127.0.0.1 -p "$behind" -U postgres postgres >/dev/null 2>&1
    $as "$bin/pg_ctl" -D "$STATE/data" -w -s stop
    echo "host all all all trust" >>"$STATE/data/pg_hba.conf"
    if [ "$VARIANT" = postgresql ]; then
        serve <<<"exec $as $bin/postgres -D $STATE/data -h \$address -p $port -k $STATE/data"
    else
        need pgbouncer
        serve <<END
cat >$STATE/pgbouncer.ini <<INI
[databases]
postgres = host=\$address port=$behind
[pgbouncer]
listen_addr = \$address
listen_port = $port
auth_type = any
pool_mode = transaction
unix_socket_dir =
server_login_retry = 1
INI
sed -i 's/^postgres = .*/& user=postgres/' $STATE/pgbouncer.ini
$as $bin/postgres -D $STATE/data -h \$address -p $behind -k $STATE/data &
until $bin/pg_isready -q -h \$address -p $behind; do sleep 0.1; done
exec $as pgbouncer -q $STATE/pgbouncer.ini
END
    fi
    load pgbench -n -S -c 4 -T "$seconds" -h {server} -p "$port" -U postgres postgres ;;
mariadb)
    need mariadbd mariadb-slap mariadb-install-db
    chmod 755 "$STATE"
    mariadb-install-db --no-defaults --user=mysql --datadir="$STATE/data" --auth-root-authentication-method=normal \
        --skip-test-db >/dev/null 2>&1
    printf '%s;\n' "CREATE USER driver@'%'" "GRANT ALL ON *.* TO driver@'%'" >"$STATE/init.sql"
    serve <<<"exec mariadbd --no-defaults --user=mysql --datadir=$STATE/data --bind-address=\$address --port=$port \
        --socket=$STATE/data/socket --init-file=$STATE/init.sql --skip-name-resolve"
    load mariadb-slap --no-defaults --protocol=tcp -h {server} -P "$port" -u driver --auto-generate-sql \
        --auto-generate-sql-load-type=read --concurrency=4 --number-of-queries=8000 ;;
haproxy)
    need haproxy wrk nginx
    serve <<END
$(nginx_behind "$behind") &
cat >$STATE/haproxy.cfg <<CFG
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen front
  bind \$address:$port
  server one \$address:$behind
CFG
exec haproxy -db -f $STATE/haproxy.cfg
END
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
apache)
    need apache2 ab
    mkdir "$STATE/files"
    echo hello >"$STATE/files/hello"
    serve <<END
cat >$STATE/apache.conf <<CFG
ServerRoot $STATE
ServerName casebook.test
PidFile $STATE/apache.pid
ErrorLog $STATE/apache.log
Listen \$address:$port
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
MaxKeepAliveRequests 0
User www-data
Group www-data
DocumentRoot $STATE/files
CFG
exec apache2 -X -f $STATE/apache.conf
END
    load ab -q -k -c 4 -n 20000 "$url" ;;
lighttpd)
    need lighttpd wrk
    mkdir "$STATE/files"
    echo hello >"$STATE/files/hello"
    serve <<END
printf 'server.document-root="%s"\nserver.port=%s\nserver.bind="%s"\nserver.max-keep-alive-requests=0\n' \
    $STATE/files $port "\$address" >$STATE/lighttpd.conf
exec lighttpd -D -f $STATE/lighttpd.conf
END
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
varnish)
    need varnishd wrk nginx
    serve <<END
$(nginx_behind "$behind") &
exec varnishd -F -n $STATE/varnish -a \$address:$port -b \$address:$behind -s malloc,64m
END
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
stunnel)
    need stunnel wrk nginx
    serve <<END
$(nginx_behind "$behind") &
cat >$STATE/stunnel.conf <<CFG
foreground = yes
pid =
cert = $STATE/certificate.pem
key = $STATE/key.pem
[https]
accept = \$address:$port
connect = \$address:$behind
CFG
exec stunnel $STATE/stunnel.conf
END
    load wrk -t1 -c4 "-d${seconds}s" "https://{server}:$port/hello" ;;
nginx-http2)
    need nginx h2load
    serve <<<"exec $(nginx_behind "$port") tls"
    sed 's/ @TLS@;/ ssl http2;/' "$CASEBOOK/nginx.conf" >"$STATE/template"
    sed -i "s|$CASEBOOK/nginx.conf|$STATE/template|" "$STATE/serve.sh"
    load h2load -t1 -c4 -m4 -n 20000 "https://{server}:$port/hello" ;;
caddy)
    need caddy wrk
    serve <<<"export HOME=$STATE XDG_DATA_HOME=$STATE XDG_CONFIG_HOME=$STATE; exec caddy respond --listen \$address:$port hello"
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
h2o)
    need h2o wrk
    mkdir "$STATE/files"
    echo hello >"$STATE/files/hello"
    serve <<END
printf 'listen:\n  host: %s\n  port: %s\nuser: nobody\nnum-threads: 1\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: %s\n' \
    "\$address" $port $STATE/files >$STATE/h2o.conf
exec h2o -m worker -c $STATE/h2o.conf
END
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
gunicorn)
    need gunicorn wrk
    serve <<<"cd $here; exec gunicorn -k gthread --threads 4 --keep-alive 30 -b \$address:$port wsgi:application"
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
aiohttp | tornado)
    need wrk
    /usr/bin/python3 -c "import $VARIANT" 2>/dev/null || { echo "skipped: python3-$VARIANT is not installed" >&2; exit 77; }
    serve <<<"exec /usr/bin/python3 $here/$VARIANT-server.py \$address $port"
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
uwsgi)
    need uwsgi wrk
    serve <<<"cd $here; exec uwsgi --plugin python3 --http-socket \$address:$port --wsgi-file wsgi.py --threads 4 --disable-logging --die-on-term"
    load ab -q -c 4 -n 4000 "$url" ;;
node-server)
    need node wrk
    serve <<<"exec node $here/server.mjs \$address $port"
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
puma)
    need puma wrk
    serve <<<"cd $here; exec puma -q -t 4:4 -b tcp://\$address:$port config.ru"
    load wrk -t1 -c4 "-d${seconds}s" "$url" ;;
starman)
    need starman ab
    serve <<<"exec starman --workers 2 --max-requests 1000000 --listen \$address:$port $here/app.psgi"
    load ab -q -k -c 2 -n 6000 "$url" ;;
mosquitto)
    need mosquitto mosquitto_pub
    seq 20000 >"$STATE/lines"
    serve <<END
printf 'listener %s %s\nallow_anonymous true\n' $port "\$address" >$STATE/mosquitto.conf
exec mosquitto -c $STATE/mosquitto.conf
END
    load bash -c "exec mosquitto_pub -h {server} -p $port -t lines -q 1 -l <$STATE/lines" ;;
beanstalkd)
    need beanstalkd
    serve <<<"exec beanstalkd -u nobody -l \$address -p $port"
    load "$PYTHON" "$here/beanstalk-client.py" {server} "$port" 10000 ;;
rsync)
    need rsync
    files
    mkdir "$STATE/copy"
    serve <<END
printf 'use chroot = no\nlog file = /dev/null\n[files]\npath = %s\n' $STATE/files >$STATE/rsyncd.conf
exec rsync --daemon --no-detach --config=$STATE/rsyncd.conf --address=\$address --port=$port
END
    load rsync -a "rsync://{server}:$port/files/" "$STATE/copy/" ;;
sftp)
    need sftp /usr/sbin/sshd
    files
    ssh-keygen -q -t ed25519 -N '' -f "$STATE/host"
    ssh-keygen -q -t ed25519 -N '' -f "$STATE/user"
    cp "$STATE/user.pub" "$STATE/authorized"
    mkdir -p /run/sshd
    serve <<<"exec /usr/sbin/sshd -D -e -f /dev/null -h $STATE/host -o ListenAddress=\$address -p $port -o PidFile=none \
        -o AuthorizedKeysFile=$STATE/authorized -o StrictModes=no -o PermitRootLogin=yes -o Subsystem='sftp internal-sftp' 2>/dev/null"
    load sftp -q -F /dev/null -P "$port" -i "$STATE/user" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -o LogLevel=ERROR "{server}:$STATE/files/large" /dev/null ;;
vsftpd)
    need vsftpd curl
    files
    chmod -R a+rX "$STATE"
    serve <<END
cat >$STATE/vsftpd.conf <<CFG
listen=YES
listen_address=\$address
listen_port=$port
background=NO
anonymous_enable=YES
anon_root=$STATE/files
secure_chroot_dir=/var/run/vsftpd/empty
seccomp_sandbox=NO
CFG
mkdir -p /var/run/vsftpd/empty
exec vsftpd $STATE/vsftpd.conf
END
    load curl --silent --fail --output /dev/null "ftp://{server}:$port/large" ;;
git)
    need git
    git init -q "$STATE/files"
    for i in $(seq 300); do seq "$i" 2000 >"$STATE/files/$i"; done
    git -C "$STATE/files" -c gc.auto=0 add .
    git -C "$STATE/files" -c user.name=casebook -c user.email=casebook@casebook.test commit -q -m files
    chmod -R a+rX "$STATE"
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
    serve <<<"exec git daemon --export-all --reuseaddr --base-path=$STATE --listen=\$address --port=$port"
    load bash -c "rm -rf $STATE/clone && exec git clone -q git://{server}:$port/files $STATE/clone" ;;
iperf3)
    need iperf3
    serve <<<"exec iperf3 -s -B \$address -p $port"
    load iperf3 -c {server} -p "$port" -t "$seconds" ;;
dnsmasq)
    need dnsmasq dnsperf
    seq 20000 | sed 's/.*/host&.casebook.test A/' >"$STATE/questions"
    serve <<<"exec dnsmasq -k -C /dev/null --listen-address=\$address --bind-interfaces -p $port --no-resolv --no-hosts \
        --address=/casebook.test/192.0.2.7 --user=nobody --pid-file"
    load dnsperf -s {server} -p "$port" -d "$STATE/questions" -l "$seconds" ;;
smtp)
    need smtp-sink smtp-source
    serve <<<"exec smtp-sink -u nobody \$address:$port 100"
    load smtp-source -s 4 -m 2000 -d -l 4096 -t reader@casebook.test "{server}:$port" ;;
tinyproxy)
    need tinyproxy curl nginx
    urls=()
    for i in $(seq 400); do urls+=("http://{server}:$behind/hello?$i" -o /dev/null); done
    serve <<END
$(nginx_behind "$behind") &
printf 'Port %s\nListen %s\nTimeout 60\nMaxClients 50\nLogLevel Critical\n' $port "\$address" >$STATE/tinyproxy.conf
exec tinyproxy -d -c $STATE/tinyproxy.conf
END
    load curl --silent --fail -o /dev/null --proxy "http://{server}:$port" "${urls[@]}" ;;
siege)
    need siege nginx
    serve <<<"exec $(nginx_behind "$port")"
    printf 'connection = keep-alive\nlogging = false\nparser = false\n' >"$STATE/siegerc"
    load siege -q -b -R "$STATE/siegerc" -c 4 -r 3000 "$url" ;;
wget)
    need wget nginx
    serve <<<"exec $(nginx_behind "$port")"
    files
    (cd "$STATE/files/small" && for i in *; do echo "<a href=\"$i\">$i</a>"; done >index.html)
    load wget -q -r -l1 -nd -P "$STATE/copy" "http://{server}:$port/small/index.html" ;;
aria2)
    need aria2c nginx
    serve <<<"exec $(nginx_behind "$port")"
    files
    load aria2c -q -x4 -s4 -k1M --allow-overwrite=true -d "$STATE/copy" "http://{server}:$port/large" ;;
redis-pipeline)
    need redis-server redis-benchmark
    serve <<<"exec redis-server --bind \$address --port $port --appendonly no --save '' --dir $STATE"
    load redis-benchmark -h {server} -p "$port" -q -c 8 -P 16 -n 400000 -t get,set ;;
pipeline)
    # No server: a pipeline of the shell that works all the time.
    watch -- bash -c 'head -c 40M /dev/urandom | gzip -1 | wc -c' ;;
*)
    . "$here/programs/$VARIANT.sh" ;;
esac
