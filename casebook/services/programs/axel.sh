# Sourced by run.sh: axel.
need axel nginx
serve <<<"exec $(nginx_behind "$port")"
files
load axel -q -n 4 -o "$STATE/copy" "http://{server}:$port/large"
