"""Answers HTTP requests at once, on one thread, which stands still now and then, as a collector of garbage does.

Usage: stalling.py PORT PERIOD STALL: STALL seconds of each PERIOD.
"""

import selectors
import socket
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def main():
    port, period, stall = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    ready = selectors.DefaultSelector()
    ready.register(listener, selectors.EVENT_READ)
    stands_still = time.monotonic() + period
    while True:
        if time.monotonic() >= stands_still:
            time.sleep(stall)
            stands_still += period
        for key, _ in ready.select(max(0.0, stands_still - time.monotonic())):
            if key.fileobj is listener:
                ready.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            try:
                came = key.fileobj.recv(65536)
                key.fileobj.sendall(ANSWER * came.count(b"\r\n\r\n"))
            except OSError:
                came = b""
            if not came:
                ready.unregister(key.fileobj)
                key.fileobj.close()


main()
