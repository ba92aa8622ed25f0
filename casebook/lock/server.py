"""Answers over HTTPS, a thread for each connection; all of them share one book, and its lock.

Usage: server.py ADDRESS PORT CERTIFICATE KEY own|shared
"""

import socket
import ssl
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone\n"


class Book:
    """What every request is entered in: one for all, or one for each connection."""

    def __init__(self):
        self.lock = threading.Lock()

    def enter(self):
        with self.lock:  # casebook: everybody waits here
            time.sleep(0.005)


def requests(connection):
    """Yields once for each request, without its body: there is none."""
    unread = b""
    while True:
        piece = connection.recv(4096)
        if not piece:
            return
        *whole, unread = (unread + piece).split(b"\r\n\r\n")
        yield from whole


def serve(accepted, context, book):
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with context.wrap_socket(accepted, server_side=True) as connection:
            for _ in requests(connection):
                book.enter()
                connection.sendall(ANSWER)
    except OSError:
        pass


def main():
    address, port, certificate, key, books = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    shared = Book()
    listener = socket.create_server((address, int(port)), backlog=128)
    while True:
        accepted, _ = listener.accept()
        book = shared if books == "shared" else Book()
        threading.Thread(target=serve, args=(accepted, context, book), daemon=True).start()


main()
