"""An HTTP/1.1 server that does not know `Expect: 100-continue`. Usage: server.py ADDRESS PORT SECONDS

It says nothing until the whole body is there. Ends by itself after SECONDS without a client.
"""

import socket
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"


def body_length(head):
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def receive(client):
    """Takes one whole request; false where there is none any more."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = client.recv(65536)
        if not piece:
            return False
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    missing = body_length(head) - len(body)
    while missing > 0:
        piece = client.recv(65536)
        if not piece:
            return False
        missing -= len(piece)
    return True


def serve(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(client):
        client.sendall(ANSWER)


def main():
    with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listener:
        listener.settimeout(float(sys.argv[3]))
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            with client:
                serve(client)


main()
