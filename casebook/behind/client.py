"""Asks for pages one after another on one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:4])
    connection = http.client.HTTPConnection(address, port)
    for number in range(requests):
        connection.request("GET", f"/{number}")
        answer = connection.getresponse()
        if answer.status != 200 or answer.read() != b"stored\n":
            raise SystemExit("client.py: that is another page")
    print(f"{requests} pages")


main()
