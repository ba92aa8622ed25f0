# Sourced by run.sh: bombardier.
need bombardier nginx
serve <<<"exec $(nginx_behind "$port")"
load bombardier -c 4 -n 20000 --no-print "$url"
