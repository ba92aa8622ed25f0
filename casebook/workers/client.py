"""Reads a page again and again over a pool of connections that it opens, and tries, beforehand.
Usage: client.py ADDRESS PORT CONNECTIONS REQUESTS"""

import http.client
import sys
import threading
import time


def read(connection, path):
    connection.request("GET", path)
    return connection.getresponse().read()


def read_pages(connection, requests):
    for _ in range(requests):
        if read(connection, "/shop/catalogue/page/1999") != b"a page\n":
            raise SystemExit("client.py: this is another page")


def opened(address, port):
    connection = http.client.HTTPConnection(address, port)
    read(connection, "/alive")
    time.sleep(0.005)  # the server has nothing to do for a moment
    return connection


def main():
    address, port, connections, requests = sys.argv[1], *map(int, sys.argv[2:])
    pool = [opened(address, port) for _ in range(connections)]
    threads = [threading.Thread(target=read_pages, args=(one, requests // connections)) for one in pool]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{requests} pages")


main()
