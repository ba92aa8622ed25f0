"""Asks a server over HTTPS from several threads at once.

Usage: client.py ADDRESS PORT CERTIFICATE REQUESTS each|kept

With `each`, every request has a connection of its own; with `kept`, a thread keeps one for all of its requests.
"""

import socket
import ssl
import sys
import threading

THREADS = 12
REQUEST = b"GET /enter HTTP/1.1\r\nHost: casebook.test\r\n\r\n"


def connect(address, port, context):
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(plain, server_hostname="casebook.test")


def ask(connection):
    connection.sendall(REQUEST)
    if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
        raise SystemExit("client.py: the server did not answer 200")


def work(address, port, context, requests, keeps):
    connection = connect(address, port, context) if keeps else None
    for _ in range(requests):
        one = connection or connect(address, port, context)
        ask(one)
        if not keeps:
            one.close()


def main():
    address, port, certificate, requests, connections = sys.argv[1:]
    context = ssl.create_default_context(cafile=certificate)
    words = (address, int(port), context, int(requests) // THREADS, connections == "kept")
    threads = [threading.Thread(target=work, args=words) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{int(requests) // THREADS * THREADS} requests")


main()
