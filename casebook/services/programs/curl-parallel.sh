# Sourced by run.sh: curl-parallel.
need curl nginx
urls=()
serve <<<"exec $(nginx_behind "$port")"
files
for i in $(seq 200); do urls+=("http://{server}:$port/small/$i" -o /dev/null); done
load curl --silent --fail --parallel --parallel-max 8 "${urls[@]}"
