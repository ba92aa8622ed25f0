"""Takes orders, one a line, and leaves them to a worker; answers when it is done. Usage: fixed.py ADDRESS PORT SECONDS

The worker is woken for each order. Ends by itself after SECONDS without a client.
"""

import queue
import socket
import sys
import threading


class Worker(threading.Thread):
    """Does what is in its queue."""

    def __init__(self):
        super().__init__(daemon=True)
        self.orders = queue.SimpleQueue()

    def run(self):
        while True:
            self.orders.get().set()


def serve(client, worker):
    while client.recv(256):
        done = threading.Event()
        worker.orders.put(done)
        done.wait()
        client.sendall(b"noted\n")


def main():
    address, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    worker = Worker()
    worker.start()
    with socket.create_server((address, port)) as listener:
        listener.settimeout(seconds)
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client:
                serve(client, worker)


main()
