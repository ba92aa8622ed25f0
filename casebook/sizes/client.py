"""Posts SIZE bytes, again and again, over one connection; prints the median time of a request.

Usage: client.py ADDRESS PORT CERTIFICATE|plain SIZE REQUESTS

The client of the story nagle, with the size of the body for an argument and without TLS on demand: the connection is
opened by the program itself, and so without TCP_NODELAY.
"""

import http.client
import socket
import ssl
import statistics
import sys
import time


def connect(address, port, certificate):
    plain = socket.create_connection((address, port))
    if certificate == "plain":
        connection = http.client.HTTPConnection("casebook.test", port)
        connection.sock = plain
        return connection
    context = ssl.create_default_context(cafile=certificate)
    connection = http.client.HTTPSConnection("casebook.test", port, context=context)
    connection.sock = context.wrap_socket(plain, server_hostname="casebook.test")
    return connection


def post(connection, body):
    connection.request("POST", "/", body)  # casebook: the second write
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise SystemExit(f"client.py: the server answered {response.status}")


def main():
    address, port, certificate = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    size, requests = int(sys.argv[4]), int(sys.argv[5])
    connection = connect(address, port, certificate)
    body = b"x" * size
    times = []
    for _ in range(requests):
        start = time.perf_counter()
        post(connection, body)
        times.append(time.perf_counter() - start)
    connection.close()
    print(f"{requests} requests, median {1e3 * statistics.median(times):.2f} ms")


main()
