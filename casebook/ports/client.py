"""Asks for a page again and again; where no port is free it sleeps and tries again. Usage: client.py ADDRESS PORT REQUESTS each|one

`each` request has a connection of its own, which the client closes; `one` serves them all.
"""

import errno
import http.client
import sys
import time


def connect(address, port):
    connection = http.client.HTTPConnection(address, port)
    while True:
        try:
            connection.connect()  # casebook: a port of its own
            return connection
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            time.sleep(0.1)


def main():
    address, port, requests, how = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
    connection = connect(address, port)
    for _ in range(requests):
        connection.request("GET", "/page")
        connection.getresponse().read()
        if how == "each":
            connection.close()
            connection = connect(address, port)
    print(f"{requests} pages")


main()
