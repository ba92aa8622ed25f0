# Sourced by run.sh: socat.
need socat wrk nginx
serve <<END
$(nginx_behind "$behind") &
exec socat TCP-LISTEN:$port,bind=\$address,fork,reuseaddr TCP:\$address:$behind
END
load wrk -t1 -c4 "-d${seconds}s" "$url"
