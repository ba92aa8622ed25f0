"""Answers every line, and writes it down first. Usage: server.py ADDRESS PORT JOURNAL SECONDS

Every line is forced onto the disk before it is answered. One client at a time; ends by itself after SECONDS without one.
"""

import os
import socket
import sys


def serve(client, journal):
    while line := client.recv(256):
        journal.write(line)
        journal.flush()
        os.fsync(journal.fileno())  # casebook: the disk for each request
        client.sendall(b"noted\n")


def main():
    address, port, path, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    with socket.create_server((address, port)) as listener, open(path, "ab") as journal:
        listener.settimeout(seconds)
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client:
                serve(client, journal)


main()
