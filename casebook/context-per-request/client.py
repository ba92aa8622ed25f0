"""Fetches one small page again and again over HTTPS, and makes a new ssl context for each request.

Usage: client.py ADDRESS PORT CERTIFICATE REQUESTS

Every new context reads and parses the distribution's whole bundle of certification authorities, about 140 of them.
"""

import http.client
import socket
import ssl
import sys
import time

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def trusted_context(certificate):
    context = ssl.create_default_context(cafile=BUNDLE)  # casebook: the bundle for each request
    context.load_verify_locations(certificate)
    return context


def fetch(address, port, certificate):
    context = trusted_context(certificate)
    connection = http.client.HTTPSConnection("casebook.test", port, context=context)
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sock = context.wrap_socket(plain, server_hostname="casebook.test")
    connection.request("GET", "/hello")
    response = connection.getresponse()
    response.read()
    connection.close()
    if response.status != 200:
        raise SystemExit(f"client.py: the server answered {response.status}")


def main():
    address, port, certificate, requests = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    fetch(address, port, certificate)  # the first one pays for what is loaded only once
    begun = time.process_time()
    for _ in range(requests - 1):
        fetch(address, port, certificate)
    used = 1e3 * (time.process_time() - begun) / (requests - 1)
    print(f"{requests} requests, {used:.3f} ms of CPU each")


main()
