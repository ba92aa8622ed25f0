"""Asks for what takes some computing, one after the other. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:])
    connection = http.client.HTTPConnection(address, port)
    for number in range(requests):
        connection.request("GET", f"/{number}")
        if not connection.getresponse().read().isdigit():
            raise SystemExit("client.py: this is no number")
    print(f"{requests} answers")


main()
