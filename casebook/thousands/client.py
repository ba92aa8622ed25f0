"""Opens connections that stay idle, and asks over one more. Usage: client.py ADDRESS PORT IDLE REQUESTS"""

import socket
import sys


def main():
    address, port, idle, requests = sys.argv[1], *map(int, sys.argv[2:])
    others = [socket.create_connection((address, port)) for _ in range(idle)]
    with socket.create_connection((address, port)) as connection:
        for number in range(requests):
            connection.sendall(f"line {number}\n".encode())
            if not connection.recv(256):
                raise SystemExit("client.py: the server is gone")
    print(f"{requests} lines beside {len(others)} idle connections")


main()
