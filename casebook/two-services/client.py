"""Reads documents as somebody far away does: a kilobyte at a time, so that the last of them are in the server's kernel for
a while when the server has written them.

Usage: client.py gopher|gemini ADDRESS PORT SECONDS CLIENTS
"""

import socket
import ssl
import sys
import threading
import time

# As little as a kernel gives.
RECEIVE_BUFFER = 2_304
EACH = 1_024
PAUSE = 0.015


def connect(kind, address, port):
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    plain.connect((address, port))
    if kind == "gopher":
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(plain)


def fetch(kind, address, port):
    with connect(kind, address, port) as connection:
        connection.sendall(b"/document\r\n")
        while connection.recv(EACH):
            time.sleep(PAUSE)


def fetch_many(kind, address, port, end):
    while time.monotonic() < end:
        fetch(kind, address, port)


def main():
    kind, address, port, seconds, clients = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=fetch_many, args=(kind, address, port, end)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
