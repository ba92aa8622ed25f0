"""Fetches a page again and again over one connection. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys


def main():
    connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]))
    for _ in range(int(sys.argv[3])):
        connection.request("GET", "/page")
        if len(connection.getresponse().read()) != 2000:
            raise SystemExit("client.py: not the whole page")
    print(f"{sys.argv[3]} pages")


main()
