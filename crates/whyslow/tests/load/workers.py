"""Answers HTTP requests with a pool of threads, each of which works for a fixed time on one: its capacity is known.

Usage: workers.py ADDRESS PORT THREADS SECONDS. Capacity: THREADS / SECONDS requests a second.
"""

import queue
import selectors
import socket
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def work(requests, seconds):
    free = 0.0
    while True:
        came, client = requests.get()
        # Waking up late is no more work: a worker with requests in line ends one every so many seconds.
        free = max(free, came) + seconds
        time.sleep(max(0.0, free - time.monotonic()))
        try:
            client.sendall(ANSWER)
        except OSError:
            pass


def main():
    address, port, threads, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    requests = queue.SimpleQueue()
    for _ in range(threads):
        threading.Thread(target=work, args=(requests, seconds), daemon=True).start()
    listener = socket.create_server((address, port), backlog=1024)
    ready = selectors.DefaultSelector()
    ready.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is listener:
                client = listener.accept()[0]
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                ready.register(client, selectors.EVENT_READ)
                continue
            try:
                came = key.fileobj.recv(65536)
            except OSError:
                came = b""
            # A request is short and comes in one piece.
            for _ in range(came.count(b"\r\n\r\n")):
                requests.put((time.monotonic(), key.fileobj))
            if not came:
                ready.unregister(key.fileobj)
                key.fileobj.close()


main()
