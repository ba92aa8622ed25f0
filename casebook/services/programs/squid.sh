# Sourced by run.sh: squid.
need squid curl nginx
urls=()
for i in $(seq 600); do urls+=("http://{server}:$behind/hello?$i" -o /dev/null); done
chmod 777 "$STATE"
serve <<END
$(nginx_behind "$behind") &
cat >$STATE/squid.conf <<CFG
http_port \$address:$port
http_access allow all
access_log none
cache_log $STATE/squid.log
cache deny all
pid_filename none
coredump_dir $STATE
pinger_enable off
shutdown_lifetime 0 seconds
CFG
exec squid -N -f $STATE/squid.conf
END
load curl --silent --fail -o /dev/null --proxy "http://{server}:$port" "${urls[@]}"
