"""Asks for prices over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connection = http.client.HTTPConnection(address, port)
    total = 0
    for number in range(requests):
        connection.request("GET", f"/{1000 + number}")
        total += round(100 * float(connection.getresponse().read()))
    print(f"{requests} prices, {total} cents")


main()
