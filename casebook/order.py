"""Sends a line and waits for its answer, again and again. Usage: order.py ADDRESS PORT REQUESTS"""

import socket
import sys


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(requests):
            connection.sendall(f"order {number}\n".encode())
            if connection.recv(256) != b"noted\n":
                raise SystemExit("order.py: the server did not note it")
    print(f"{requests} requests")


main()
