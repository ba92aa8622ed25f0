# Sourced by run.sh: php-fpm.
php=$(compgen -G '/usr/sbin/php-fpm*' | tail -1 || true)
need "${php:-php-fpm}" nginx wrk
make_certificate
mkdir "$STATE/files"
echo '<?php echo "hello from the casebook\n";' >"$STATE/files/hello.php"
sed "s|location = /hello .*|location = /hello { fastcgi_param SCRIPT_FILENAME $STATE/files/hello.php; fastcgi_param REQUEST_METHOD GET; fastcgi_keep_conn on; fastcgi_pass unix:$STATE/php.socket; }|" \
    "$CASEBOOK/nginx.conf" >"$STATE/template.conf"
serve <<END
printf '[global]\nerror_log = %s/php.log\n[www]\nuser = nobody\nlisten = %s/php.socket\nlisten.mode = 0666\npm = static\npm.max_children = 4\n' \
    $STATE $STATE >$STATE/php.conf
$php -F -y $STATE/php.conf &
exec $CASEBOOK/serve-nginx.sh $STATE/template.conf $STATE \$address $port
END
load wrk -t1 -c4 "-d${seconds}s" "$url"
