"""Asks from four threads at a time; where it is turned away it sleeps and asks again. Usage: client.py ADDRESS PORT ROUNDS"""

import http.client
import sys
import threading
import time

CLIENTS = 4


def ask(address, port, rounds):
    connection = http.client.HTTPConnection(address, port)
    for _ in range(rounds):
        while True:
            connection.request("GET", "/page")
            answer = connection.getresponse()  # casebook: waits for the answer
            answer.read()
            if answer.status == 200:
                break
            time.sleep(0.1)  # casebook: turned away


def main():
    address, port, rounds = sys.argv[1], *map(int, sys.argv[2:])
    threads = [threading.Thread(target=ask, args=(address, port, rounds)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{rounds * CLIENTS} pages")


main()
