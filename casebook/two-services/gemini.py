"""A gemini-like server: one line in over TLS, a document out, and the connection is closed. A thread a connection.

Usage: gemini.py ADDRESS PORT SECONDS CERTIFICATE KEY
"""

import socket
import ssl
import sys
import threading
import time

DOCUMENT = b"20 text/gemini\r\n" + b"i" * 20_000
MAX_REQUEST = 1024


def serve(context, client):
    try:
        with context.wrap_socket(client, server_side=True) as connection:
            request = b""
            while not request.endswith(b"\n") and len(request) < MAX_REQUEST:
                received = connection.recv(MAX_REQUEST)
                if not received:
                    return
                request += received
            connection.sendall(DOCUMENT)
            connection.unwrap()
    except OSError:
        pass  # The client has gone, as it may.


def main():
    address, port, seconds, certificate, key = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:6]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server((address, port), backlog=64)
    listener.settimeout(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            client, _ = listener.accept()
        except TimeoutError:
            continue
        client.settimeout(10)
        threading.Thread(target=serve, args=(context, client), daemon=True).start()


main()
