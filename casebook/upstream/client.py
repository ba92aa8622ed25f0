"""Asks a proxy for one page after another, on one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:4])
    connection = http.client.HTTPConnection(address, port)
    for _ in range(requests):
        connection.request("GET", "/hello")
        answer = connection.getresponse()
        if answer.status != 200 or answer.read() != b"hello\n":
            raise SystemExit("client.py: that is another page")
    connection.close()
    print(f"{requests} pages")


main()
