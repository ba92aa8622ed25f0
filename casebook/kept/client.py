"""Visitors who read three pages each and think about them, on one connection. Usage: client.py ADDRESS PORT VISITORS"""

import http.client
import sys
import threading
import time

THINKS = 0.3


def visit(address, port):
    connection = http.client.HTTPConnection(address, port)
    for _ in range(3):
        connection.request("GET", "/hello")
        answer = connection.getresponse()
        if answer.status != 200 or answer.read() != b"hello\n":
            raise SystemExit("client.py: that is another page")
        time.sleep(THINKS)
    connection.close()


def main():
    address, port, visitors = sys.argv[1], *map(int, sys.argv[2:4])
    threads = [threading.Thread(target=visit, args=(address, port)) for _ in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{visitors} visitors")


main()
