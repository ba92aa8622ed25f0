"""Asks for pages, one after another, over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys

PAGES = 8


def main():
    address, port, requests = sys.argv[1:]
    connection = http.client.HTTPConnection(address, int(port))
    for number in range(int(requests)):
        connection.request("GET", f"/page-{number % PAGES}.html")
        connection.getresponse().read()
    print(f"{requests} pages")


main()
