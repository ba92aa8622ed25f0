"""Answers each TLS connection with one short HTTP response and closes it. Usage: server.py FOLDER

Prints the port. Adds a line `full` or `resumed` to FOLDER/handshakes for each. A thread for each connection.
"""

import socket
import ssl
import sys
import threading

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{sys.argv[1]}/certificate.pem", f"{sys.argv[1]}/key.pem")
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
handshakes = open(f"{sys.argv[1]}/handshakes", "w", buffering=1)


def answer(plain):
    try:
        with context.wrap_socket(plain, server_side=True) as connection:
            request = b""
            while b"\r\n\r\n" not in request:
                more = connection.recv(4096)
                if not more:
                    return
                request += more
            handshakes.write("resumed\n" if connection.session_reused else "full\n")
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    except OSError:
        pass


print(listener.getsockname()[1], flush=True)
while True:
    plain, _ = listener.accept()
    threading.Thread(target=answer, args=(plain,), daemon=True).start()
