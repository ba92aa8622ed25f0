"""Fetches one small page again and again over HTTPS, with one ssl context and one connection for all requests.

Usage: fixed.py ADDRESS PORT CERTIFICATE REQUESTS
"""

import http.client
import socket
import ssl
import sys

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def connect(address, port, certificate):
    context = ssl.create_default_context(cafile=BUNDLE)
    context.load_verify_locations(certificate)
    connection = http.client.HTTPSConnection("casebook.test", port, context=context)
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sock = context.wrap_socket(plain, server_hostname="casebook.test")
    return connection


def main():
    address, port, certificate, requests = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    connection = connect(address, port, certificate)
    for _ in range(requests):
        connection.request("GET", "/hello")
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise SystemExit(f"fixed.py: the server answered {response.status}")
    connection.close()
    print(f"{requests} requests")


main()
