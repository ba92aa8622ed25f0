"""Reads a page again and again over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:])
    connection = http.client.HTTPConnection(address, port)
    size = 0
    for _ in range(requests):
        connection.request("GET", "/")
        size += len(connection.getresponse().read())
    print(f"{requests} pages, {size} bytes")


main()
