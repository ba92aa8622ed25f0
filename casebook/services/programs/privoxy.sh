# Sourced by run.sh: privoxy.
need privoxy curl nginx
urls=()
for i in $(seq 400); do urls+=("http://{server}:$behind/hello?$i" -o /dev/null); done
serve <<END
$(nginx_behind "$behind") &
printf 'listen-address %s:%s\ntoggle 0\nkeep-alive-timeout 5\nconnection-sharing 1\n' "\$address" $port >$STATE/privoxy.conf
exec privoxy --no-daemon $STATE/privoxy.conf 2>/dev/null
END
load curl --silent --fail -o /dev/null --proxy "http://{server}:$port" "${urls[@]}"
