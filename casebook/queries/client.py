"""Asks for a list of orders again and again over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1:]
    connection = http.client.HTTPConnection(address, int(port))
    size = 0
    for _ in range(int(requests)):
        connection.request("GET", "/orders")
        size += len(connection.getresponse().read())
    print(f"{requests} lists, {size} bytes")


main()
