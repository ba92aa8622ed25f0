"""Fetches one small page again and again: a connection for each request, or one for all.

Usage: client.py ADDRESS PORT REQUESTS each|one
"""

import http.client
import sys


def main():
    address, port, requests, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    connection = http.client.HTTPConnection(address, port)
    size = 0
    for _ in range(requests):
        connection.request("GET", "/hello")  # casebook: a connection for each request
        size += len(connection.getresponse().read())
        if how == "each":
            connection.close()
    print(f"{requests} requests, {size} bytes")


main()
