"""Asks for sums, one every few milliseconds. Usage: client.py ADDRESS PORT REQUESTS"""

import socket
import sys
import time

# Between an answer and the next question: what somebody else's part of the work takes.
PAUSE_SECONDS = 0.008


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(requests):
            connection.sendall(f"{20_000 + number % 100}\n".encode())
            if not connection.recv(256).endswith(b" ways\n"):
                raise SystemExit("client.py: the server did not say")
            time.sleep(PAUSE_SECONDS)
    print(f"{requests} requests")


main()
