"""Posts 80 bytes, again and again, over one HTTP connection; prints once a second how often.

Usage: fixed.py ADDRESS PORT SECONDS

The connection is opened by the program itself, which sets TCP_NODELAY: the one line in which it differs from client.py.
Ends by itself after SECONDS.
"""

import http.client
import socket
import sys
import time


def connect(address, port):
    connection = http.client.HTTPConnection("casebook.test", port)
    connection.sock = socket.create_connection((address, port))
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # the cure
    return connection


def post(connection, body):
    connection.request("POST", "/", body)
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise SystemExit(f"fixed.py: the server answered {response.status}")


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    connection = connect(address, port)
    end = time.monotonic() + seconds
    second, count = time.monotonic() + 1, 0
    while time.monotonic() < end:
        post(connection, b"x" * 80)
        count += 1
        if time.monotonic() >= second:
            print(count, flush=True)
            second, count = second + 1, 0


main()
