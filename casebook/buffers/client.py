"""Downloads a megabyte again and again over one connection. Usage: client.py ADDRESS PORT REQUESTS [BYTES]

With BYTES its socket's receive buffer is set to that.
"""

import http.client
import socket
import sys


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connection = http.client.HTTPConnection(address, port)
    connection.sock = socket.socket()
    if len(sys.argv) > 4:
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[4]))  # casebook: a buffer of its own
    connection.sock.connect((address, port))
    for _ in range(requests):
        connection.request("GET", "/megabyte")
        if len(connection.getresponse().read()) != 1 << 20:
            raise SystemExit("client.py: less than a megabyte")
    print(f"{requests} downloads")


main()
