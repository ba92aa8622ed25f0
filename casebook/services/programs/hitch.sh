# Sourced by run.sh: hitch.
need hitch wrk nginx
serve <<END
$(nginx_behind "$behind") &
cat $STATE/certificate.pem $STATE/key.pem >$STATE/both.pem
exec hitch --workers=1 --user=nobody --group=nogroup --frontend="[\$address]:$port" --backend="[\$address]:$behind" $STATE/both.pem
END
load wrk -t1 -c4 "-d${seconds}s" "https://{server}:$port/hello"
