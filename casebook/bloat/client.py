"""Downloads a file and asks for small pages meanwhile, one every now and then. Usage: client.py ADDRESS PORT PAGES"""

import http.client
import sys
import threading
import time

def get(connection, path):
    connection.request("GET", path)
    return connection.getresponse().read()  # casebook: waits for the answer


def download(address, port):
    get(http.client.HTTPConnection(address, port), "/image")


def main():
    address, port, count = sys.argv[1], *map(int, sys.argv[2:])
    pages = http.client.HTTPConnection(address, port)
    for _ in range(5):
        get(pages, "/hello")
    other = threading.Thread(target=download, args=(address, port))
    other.start()
    for _ in range(count):
        time.sleep(0.05)
        get(pages, "/hello")
    other.join()
    print(f"{count} pages and a file")


main()
