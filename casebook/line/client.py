"""Asks from several threads at a time. Usage: client.py ADDRESS PORT ROUNDS CLIENTS"""

import http.client
import sys
import threading


def ask(address, port, rounds):
    for _ in range(rounds):
        connection = http.client.HTTPConnection(address, port)
        connection.request("GET", "/")
        answer = connection.getresponse()
        if answer.status != 200 or answer.read() != b"noted\n":
            raise SystemExit("client.py: the server did not note it")
        connection.close()


def main():
    address, port, rounds, clients = sys.argv[1], *map(int, sys.argv[2:5])
    threads = [threading.Thread(target=ask, args=(address, port, rounds)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{rounds * clients} answers")


main()
