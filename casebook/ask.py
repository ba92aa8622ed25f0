"""Asks for a page over HTTP, again and again, on one connection, and reads it.

Usage: ask.py ADDRESS PORT PATH REQUESTS [CERTIFICATE], with a certificate over HTTPS
"""

import http.client
import ssl
import sys


def connect(address, port, certificate):
    if certificate is None:
        return http.client.HTTPConnection(address, port)
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    return http.client.HTTPSConnection(address, port, context=context)


def main():
    address, port, path, requests = sys.argv[1:5]
    connection = connect(address, int(port), sys.argv[5] if len(sys.argv) > 5 else None)
    size = 0
    for _ in range(int(requests)):
        connection.request("GET", path)
        answer = connection.getresponse()
        size += len(answer.read())
        if answer.status != 200:
            raise SystemExit(f"ask.py: status {answer.status}")
    print(f"{requests} requests, {size} bytes")


main()
