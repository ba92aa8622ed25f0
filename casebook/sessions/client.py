"""A visitor whose browser asks for several things at a time. Usage: client.py ADDRESS PORT REQUESTS"""

import http.client
import sys
import threading

AT_A_TIME = 4
COOKIE = {"Cookie": "PHPSESSID=casebook"}


def ask(address, port, requests):
    for _ in range(requests):
        connection = http.client.HTTPConnection(address, port)
        connection.request("GET", "/", headers=COOKIE)
        if connection.getresponse().read() != b"hello\n":
            raise SystemExit("client.py: this is another page")
        connection.close()


def main():
    address, port, requests = sys.argv[1], *map(int, sys.argv[2:])
    threads = [threading.Thread(target=ask, args=(address, port, requests // AT_A_TIME)) for _ in range(AT_A_TIME)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{requests // AT_A_TIME * AT_A_TIME} pages")


main()
