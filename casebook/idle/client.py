"""Asks for a file now and then over one connection that is kept. Usage: client.py ADDRESS PORT DOWNLOADS PAUSE_SECONDS"""

import http.client
import sys
import time


def main():
    address, port, downloads, pause = sys.argv[1:]
    connection = http.client.HTTPConnection(address, int(port))
    size = 0
    for _ in range(int(downloads)):
        connection.request("GET", "/file")  # casebook: after a pause
        size += len(connection.getresponse().read())
        time.sleep(float(pause))
    print(f"{downloads} downloads, {size} bytes")


main()
