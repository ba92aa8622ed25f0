# Sourced by run.sh: haproxy-tls.
need haproxy wrk nginx
serve <<END
$(nginx_behind "$behind") &
cat $STATE/certificate.pem $STATE/key.pem >$STATE/both.pem
cat >$STATE/haproxy.cfg <<CFG
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen front
  bind \$address:$port ssl crt $STATE/both.pem
  http-reuse always
  server one \$address:$behind
CFG
exec haproxy -db -f $STATE/haproxy.cfg
END
load wrk -t1 -c4 "-d${seconds}s" "https://{server}:$port/hello"
