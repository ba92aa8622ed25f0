"""Asks for lists of 100 to 3,200 numbers, in no order, and reads each to its end.

Usage: client.py ADDRESS PORT REQUESTS
"""

import random
import socket
import sys


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sizes = random.Random(3)
    with socket.create_connection((address, port)) as connection, connection.makefile("rb") as replies:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(requests):
            connection.sendall(b"%d\n" % (100 * 2 ** sizes.uniform(0, 5)))
            length = int(replies.readline())
            if len(replies.read(length)) < length:
                sys.exit("the server ended early")
    print(f"{requests} requests")


main()
