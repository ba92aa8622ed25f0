"""Fetches a page over a new TLS connection each time that resumes the session of the one before.

Usage: fixed.py ADDRESS PORT CERTIFICATE REQUESTS
"""

import socket
import ssl
import sys

REQUEST = b"GET /hello HTTP/1.0\r\nHost: casebook.test\r\n\r\n"


def fetch(context, address, port, session):
    plain = socket.create_connection((address, port))
    # What is to be seen is the handshake: a request is not to wait until its last message was acknowledged.
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with context.wrap_socket(plain, server_hostname="casebook.test", session=session) as connection:
        connection.sendall(REQUEST)
        while connection.recv(65536):
            pass
        return connection.session


def main():
    address, port, certificate, requests = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    context = ssl.create_default_context(cafile=certificate)
    session = None
    for _ in range(requests):
        session = fetch(context, address, port, session)
    print(f"{requests} requests")


main()
