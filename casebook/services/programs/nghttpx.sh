# Sourced by run.sh: nghttpx.
need nghttpx h2load nginx
serve <<END
$(nginx_behind "$behind") &
exec nghttpx --conf=/dev/null --workers=1 --errorlog-file=/dev/null --frontend="\$address,$port" --backend="\$address,$behind" \
    $STATE/key.pem $STATE/certificate.pem
END
load h2load -t1 -c4 -m4 -n 10000 "https://{server}:$port/hello"
