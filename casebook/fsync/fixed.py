"""Takes orders, one a line, and saves all of them before each answer. Usage: fixed.py ADDRESS PORT JOURNAL SECONDS

The file is written over for each order, and the kernel takes it to the disk when it sees fit. One client at a time; ends
by itself after SECONDS without one.
"""

import socket
import sys

# What a small shop's orders come to.
PAGE = b"o" * 400_000


def save(journal, line):
    journal.seek(0)
    journal.write(PAGE + line)
    journal.flush()


def serve(client, journal):
    while line := client.recv(256):
        save(journal, line)
        client.sendall(b"noted\n")


def main():
    address, port, path, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    with socket.create_server((address, port)) as listener, open(path, "wb") as journal:
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
