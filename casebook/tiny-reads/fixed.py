"""Asks a line server for 4,096 bytes, again and again, and reads each reply through a buffer.

Usage: fixed.py ADDRESS PORT REQUESTS
"""

import socket
import sys


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        replies = connection.makefile("rb", buffering=65536)
        for _ in range(requests):
            connection.sendall(b"next\n")
            replies.readline()
    print(f"{requests} requests")


main()
