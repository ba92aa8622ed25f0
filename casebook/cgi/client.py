"""Asks for a page over HTTP, again and again, on one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import socket
import sys


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connection = http.client.HTTPConnection(address, port)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for number in range(requests):
        connection.request("GET", f"/page?number={number}")
        response = connection.getresponse()
        if response.status != 200 or f"order {number}".encode() not in response.read():
            raise SystemExit("client.py: that was not the page")
    print(f"{requests} requests")


main()
