"""Asks for prices again and again over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1:]
    connection = http.client.HTTPConnection(address, int(port))
    size = 0
    for _ in range(int(requests)):
        connection.request("GET", "/prices")
        size += len(connection.getresponse().read())
    print(f"{requests} requests, {size} bytes")


main()
