# Sourced by run.sh: hey.
need hey nginx
serve <<<"exec $(nginx_behind "$port")"
load hey -n 20000 -c 4 "$url"
