"""Twelve threads that ask a server; a semaphore lets so many of them ask at a time."""
import http.client
import sys
import threading

THREADS = 12


def ask(connection, turns):
    with turns:
        connection.request("GET", "/")
        connection.getresponse().read()


def work(host, port, requests, turns):
    connection = http.client.HTTPConnection(host, port)
    for _ in range(requests):
        ask(connection, turns)


def main():
    host, port, requests, at_a_time = sys.argv[1], *map(int, sys.argv[2:])
    turns = threading.BoundedSemaphore(at_a_time)
    threads = [threading.Thread(target=work, args=(host, port, requests, turns)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
