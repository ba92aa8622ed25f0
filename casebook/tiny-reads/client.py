"""Asks a line server for 4,096 bytes, again and again, and reads each reply a byte at a time.

Usage: client.py ADDRESS PORT REQUESTS
"""

import socket
import sys


def read_line(connection):
    line = bytearray()
    while not line.endswith(b"\n"):
        line += connection.recv(1)  # casebook: a call for each byte
    return line


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(requests):
            connection.sendall(b"next\n")
            read_line(connection)
    print(f"{requests} requests")


main()
