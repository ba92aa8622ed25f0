#!/bin/bash
# Installs from Debian what building, testing or measuring needs and what is not here yet; touches nothing else.
# Usage: setup.sh build|demo|test|bench|healthy
#
# Needs root only where something is missing; as an ordinary user it then prints the command to run. Rust is never
# installed, only asked for. Services of the installed packages are not started.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin:/usr/local/go/bin

purpose=${1:-build}
root=$(cd "$(dirname "$0")/.." && pwd)

# A package, and a command or a file (a pattern of its path) by which to know that it is there.
build=(gcc:gcc make:make clang:clang libbpf-dev:/usr/include/bpf/bpf_helpers.h libc6-dev:/usr/include/stdio.h)
demo=(nginx-light:nginx openssl:openssl iproute2:ip python3:python3 ca-certificates:/etc/ssl/certs/ca-certificates.crt
    procps:ps util-linux:unshare)
tests=(curl:curl haproxy:haproxy redis-server:redis-server redis-tools:redis-benchmark wrk:wrk apache2-utils:ab libcap2-bin:setcap
    mmdebstrap:mmdebstrap tshark:tshark chromium:chromium python3-jsonschema:/usr/lib/python3/dist-packages/jsonschema git:git
    libcurl4-openssl-dev:"/usr/include/$(uname -m)-linux-gnu/curl/curl.h" golang-go:go nodejs:node default-jdk-headless:javac
    php-cli:php ruby:ruby wget:wget openvpn:openvpn apache2:apache2 caddy:caddy strace:strace nghttp2-client:h2load)
healthy=(memcached:memcached libmemcached-tools:memcslap postgresql:/usr/lib/postgresql postgresql-contrib:pgbench
    pgbouncer:pgbouncer mariadb-server:mariadbd mariadb-client:mariadb-slap lighttpd:lighttpd varnish:varnishd
    stunnel4:stunnel h2o:h2o gunicorn:gunicorn python3-tornado:/usr/lib/python3/dist-packages/tornado
    python3-psycopg2:/usr/lib/python3/dist-packages/psycopg2
    python3-aiohttp:/usr/lib/python3/dist-packages/aiohttp uwsgi-plugin-python3:uwsgi puma:puma starman:starman mosquitto:mosquitto
    mosquitto-clients:mosquitto_pub beanstalkd:beanstalkd rsync:rsync openssh-server:sshd openssh-client:sftp cpulimit:cpulimit vsftpd:vsftpd iperf3:iperf3
    dnsmasq-base:dnsmasq dnsperf:dnsperf postfix:smtp-sink tinyproxy-bin:tinyproxy siege:siege aria2:aria2c
    squid:squid nghttp2-proxy:nghttpx hitch:hitch hey:hey axel:axel lftp:lftp unbound:unbound bind9:named uvicorn:uvicorn
    python3-waitress:/usr/lib/python3/dist-packages/waitress python3-twisted:/usr/lib/python3/dist-packages/twisted
    libmojolicious-perl:/usr/share/perl5/Mojo.pm 'php-fpm:/usr/sbin/php-fpm*' subversion:svnserve etcd-server:etcd slapd:slapd
    ldap-utils:ldapsearch nftables:nft)
bench=(tcpdump:tcpdump linux-perf:perf postgresql:/usr/lib/postgresql postgresql-contrib:pgbench)

case $purpose in
build) wanted=("${build[@]}") ;;
demo) wanted=("${build[@]}" "${demo[@]}") ;;
test) wanted=("${build[@]}" "${demo[@]}" "${tests[@]}") ;;
bench) wanted=("${build[@]}" "${demo[@]}" "${tests[@]}" "${bench[@]}") ;;
healthy) wanted=("${build[@]}" "${demo[@]}" "${tests[@]}" "${healthy[@]}") ;;
*) echo "setup.sh: unknown purpose '$purpose'; there are build, demo, test, bench and healthy" >&2; exit 2 ;;
esac

require_rust() {
    local needed found
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    if ! command -v cargo >/dev/null; then
        echo "setup.sh: cargo was not found, and building needs Rust $needed or newer." >&2
        echo "Install it (https://rustup.rs), for example:" >&2
        echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default" >&2
        exit 1
    fi
    found=$(rustc --version | cut -d' ' -f2)
    if [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -1)" != "$needed" ]; then
        echo "setup.sh: Rust is $found, and building needs $needed or newer." >&2
        echo "Update it:" >&2
        echo "    rustup update stable" >&2
        exit 1
    fi
}

missing_packages() {
    local entry sign
    for entry in "${wanted[@]}"; do
        sign=${entry#*:}
        case $sign in
        /*) compgen -G "$sign" >/dev/null || echo "${entry%%:*}" ;;
        *) command -v "$sign" >/dev/null || echo "${entry%%:*}" ;;
        esac
    done
}

# Packages such as nginx start their service when installed, unless this file says no.
hold_services() {
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod +x /usr/sbin/policy-rc.d
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
}

install_packages() { # PACKAGE...
    local options=(-o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=120)
    hold_services
    echo "setup.sh: installing $*"
    # A list that cannot be brought up to date is no reason to stop: the packages may be had with the old one.
    timeout 300 apt-get "${options[@]}" -qq update || echo "setup.sh: apt-get update failed; trying with the lists at hand" >&2
    DEBIAN_FRONTEND=noninteractive timeout 900 apt-get "${options[@]}" -qq -y --no-install-recommends install "$@"
}

mapfile -t missing < <(missing_packages)
if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "setup.sh: this system has no apt-get; install the equivalents of: ${missing[*]}" >&2
        exit 1
    fi
    if [ "$(id -u)" != 0 ]; then
        echo "setup.sh: missing: ${missing[*]}" >&2
        echo "Installing packages needs root. Run:" >&2
        echo "    sudo apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    install_packages "${missing[@]}"
fi
require_rust
echo "setup.sh: everything for '$purpose' is here"
