# Sourced by run.sh: ssh-tunnel.
need ssh /usr/sbin/sshd wrk nginx
ssh-keygen -q -t ed25519 -N '' -f "$STATE/host"
ssh-keygen -q -t ed25519 -N '' -f "$STATE/user"
cp "$STATE/user.pub" "$STATE/authorized"
mkdir -p /run/sshd
tunnel=$(free_port)
serve <<END
$(nginx_behind "$behind") &
/usr/sbin/sshd -D -e -f /dev/null -h $STATE/host -o ListenAddress=\$address -p $tunnel -o PidFile=none \
    -o AuthorizedKeysFile=$STATE/authorized -o StrictModes=no -o PermitRootLogin=yes 2>/dev/null &
until ssh-keyscan -p $tunnel \$address >/dev/null 2>&1; do sleep 0.1; done
exec ssh -N -F /dev/null -p $tunnel -i $STATE/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
    -L \$address:$port:\$address:$behind \$address
END
load wrk -t1 -c4 "-d${seconds}s" "$url"
