"""Downloads a file in parts, politely or at once. Usage: client.py ADDRESS PORT DOWNLOADS SECONDS"""

import http.client
import sys
import time

PART = 65_536


def main():
    address, port, downloads, seconds = sys.argv[1:]
    connection = http.client.HTTPConnection(address, int(port))
    size = 0
    for _ in range(int(downloads)):
        connection.request("GET", "/file")
        answer = connection.getresponse()
        while part := answer.read(PART):
            size += len(part)
            if float(seconds):
                time.sleep(float(seconds))  # casebook: be polite
    print(f"{downloads} downloads, {size} bytes")


main()
