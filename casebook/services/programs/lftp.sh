# Sourced by run.sh: lftp.
need lftp nginx
serve <<<"exec $(nginx_behind "$port")"
files
(cd "$STATE/files/small" && for i in *; do echo "<a href=\"$i\">$i</a><br>"; done >index.html)
load lftp -c "set net:max-retries 1; mirror http://{server}:$port/small/ $STATE/copy"
