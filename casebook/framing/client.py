"""Reads a page again and again. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:])
    connection = http.client.HTTPConnection(address, port)
    for _ in range(requests):
        connection.request("GET", "/")
        content = connection.getresponse().read()  # casebook: all of it
        if content != b"one line\n" * 20:
            raise SystemExit("client.py: this is another page")
    print(f"{requests} pages")


main()
