"""Fetches one small page again and again over one kept connection.

Usage: fixed.py SCHEME ADDRESS PORT CERTIFICATE REQUESTS
"""

import http.client
import socket
import ssl
import sys


def connect(scheme, address, port, certificate):
    connection = http.client.HTTPConnection("casebook.test", port)
    connection.sock = socket.create_connection((address, port))
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if scheme == "https":
        context = ssl.create_default_context(cafile=certificate)
        connection.sock = context.wrap_socket(connection.sock, server_hostname="casebook.test")
    return connection


def main():
    scheme, address, port, certificate, requests = sys.argv[1:]
    connection = connect(scheme, address, int(port), certificate)
    for _ in range(int(requests)):
        connection.request("GET", "/hello")
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise SystemExit(f"fixed.py: the server answered {response.status}")
    connection.close()
    print(f"{requests} requests")


main()
