"""Asks for prices over one connection, each for another item. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import json
import sys


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:4])
    connection = http.client.HTTPConnection(address, port)
    total = 0
    for item in range(1, requests + 1):
        connection.request("GET", f"/{item}/C{item % 50}")
        total += json.loads(connection.getresponse().read())["euros"]
    print(f"{requests} prices, {total:.2f} euros")


main()
