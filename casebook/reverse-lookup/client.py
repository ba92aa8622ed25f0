"""Asks for a page again and again, each time as a visitor who has just come. Usage: client.py ADDRESS PORT PAGES"""

import http.client
import sys


def main():
    address, port, pages = sys.argv[1:]
    for _ in range(int(pages)):
        connection = http.client.HTTPConnection(address, int(port))
        connection.request("GET", "/hello")
        connection.getresponse().read()
        connection.close()
    print(f"{pages} pages")


main()
