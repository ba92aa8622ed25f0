"""Asks for a page again and again over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import socket
import sys

REQUEST = b"GET /index.html HTTP/1.1\r\nHost: casebook.test\r\nUser-Agent: casebook\r\nAccept: */*\r\n\r\n"


def main():
    address, port, requests = sys.argv[1:]
    connection = socket.create_connection((address, int(port)))
    for _ in range(int(requests)):
        connection.sendall(REQUEST)
        # Each answer fits one segment.
        connection.recv(4096)
    print(f"{requests} pages")


main()
