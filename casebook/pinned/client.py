"""Has lines signed over several connections at a time. Usage: client.py ADDRESS PORT CONNECTIONS REQUESTS"""

import socket
import sys
import threading


def ask(address, port, requests, signed):
    with socket.create_connection((address, port)) as connection:
        for number in range(requests):
            connection.sendall(f"line {number}\n".encode())
            signed.append(len(connection.recv(64)))


def main():
    address, port, connections, requests = sys.argv[1], *map(int, sys.argv[2:])
    signed = []
    threads = [threading.Thread(target=ask, args=(address, port, requests, signed)) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if signed != [32] * connections * requests:
        raise SystemExit("client.py: not all were signed")
    print(f"{len(signed)} lines signed")


main()
