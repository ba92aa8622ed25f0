"""Posts 80 bytes, again and again, over one HTTPS connection; prints the median time of a request.

Usage: fixed.py ADDRESS PORT CERTIFICATE REQUESTS

The connection is opened by the program itself and then handed to http.client, as programs do that need a proxy, a
source address or a time limit of their own. http.client sets TCP_NODELAY only on sockets that it opens: here the
program does so itself, and that is the one line in which it differs from client.py.
"""

import http.client
import socket
import ssl
import statistics
import sys
import time


def connect(address, port, certificate):
    context = ssl.create_default_context(cafile=certificate)
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # the cure
    connection = http.client.HTTPSConnection("casebook.test", port, context=context)
    connection.sock = context.wrap_socket(plain, server_hostname="casebook.test")
    return connection


def post(connection, body):
    connection.request("POST", "/", body)  # casebook: the second write
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise SystemExit(f"fixed.py: the server answered {response.status}")


def main():
    address, port, certificate, requests = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    connection = connect(address, port, certificate)
    times = []
    for _ in range(requests):
        start = time.perf_counter()
        post(connection, b"x" * 80)
        times.append(time.perf_counter() - start)
    connection.close()
    print(f"{requests} requests, median {1e3 * statistics.median(times):.2f} ms")


main()
