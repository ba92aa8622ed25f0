"""Fetches documents from a gopher-like server, several at a time.

Usage: client.py ADDRESS PORT DOCUMENTS CLIENTS
"""

import socket
import sys
import threading


def fetch(address, port):
    with socket.create_connection((address, port)) as connection:
        connection.sendall(b"/document\r\n")
        size = 0
        while received := connection.recv(65536):
            size += len(received)
    return size


def fetch_many(address, port, documents, sizes):
    for _ in range(documents):
        sizes.append(fetch(address, port))


def main():
    address, port, documents, clients = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    sizes = []
    arguments = (address, port, documents // clients, sizes)
    threads = [threading.Thread(target=fetch_many, args=arguments) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if set(sizes) != {20_000}:
        raise SystemExit(f"client.py: documents of {sorted(set(sizes))} bytes, expected 20000")
    print(f"{len(sizes)} documents")


main()
