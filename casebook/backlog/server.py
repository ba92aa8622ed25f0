"""Answers each connection once, one at a time. Usage: server.py ADDRESS PORT QUEUE SECONDS

QUEUE connections may wait to be accepted. Ends by itself after SECONDS without a client.
"""

import socket
import sys


def main():
    address, port, queue, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(queue)
        listener.settimeout(seconds)
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            with client:
                sum(range(200_000))  # what an answer takes
                client.recv(256)
                client.sendall(b"noted\n")


main()
