"""Answers questions and takes orders over HTTP/1.1. Usage: fixed-server.py ADDRESS PORT SECONDS

It reads through a buffer, and that is the one thing in which it differs from server.py. One client at a time; ends by
itself after SECONDS without one.
"""

import socket
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"


def read_request(stream):
    """The body of the next request; None where there is none."""
    length = 0
    if not stream.readline():
        return None
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return stream.read(length)


def serve(client):
    with client.makefile("rb") as stream:
        while read_request(stream) is not None:
            client.sendall(ANSWER)


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.create_server((address, port)) as listener:
        listener.settimeout(seconds)
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client:
                serve(client)


main()
