"""Fetches one small page again and again over HTTPS: one ssl context for all requests, and a new connection for each.

Usage: shared.py ADDRESS PORT CERTIFICATE REQUESTS

The same requests as those of client.py, with nothing cured but the context: what sharing it from outside is to predict.
"""

import http.client
import socket
import ssl
import sys
import time

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def trusted_context(certificate):
    context = ssl.create_default_context(cafile=BUNDLE)
    context.load_verify_locations(certificate)
    return context


def fetch(context, address, port):
    connection = http.client.HTTPSConnection("casebook.test", port, context=context)
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sock = context.wrap_socket(plain, server_hostname="casebook.test")
    connection.request("GET", "/hello")
    response = connection.getresponse()
    response.read()
    connection.close()
    if response.status != 200:
        raise SystemExit(f"shared.py: the server answered {response.status}")


def main():
    address, port, certificate, requests = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    context = trusted_context(certificate)
    fetch(context, address, port)  # the first one pays for what is loaded only once
    begun = time.process_time()
    for _ in range(requests - 1):
        fetch(context, address, port)
    used = 1e3 * (time.process_time() - begun) / (requests - 1)
    print(f"{requests} requests, {used:.3f} ms of CPU each")


main()
