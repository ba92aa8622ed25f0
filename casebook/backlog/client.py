"""Connects for each order, with many at a time. Usage: client.py ADDRESS PORT ROUNDS CLIENTS"""

import socket
import sys
import threading


def order(address, port, start):
    start.wait()
    with socket.create_connection((address, port)) as connection:  # casebook: waits to be let in
        connection.sendall(b"order\n")
        if connection.recv(256) != b"noted\n":
            raise SystemExit("client.py: the server did not note it")


def main():
    address, port, rounds, clients = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    for _ in range(rounds):
        start = threading.Barrier(clients)
        threads = [threading.Thread(target=order, args=(address, port, start)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"{rounds * clients} orders")


main()
