"""The method of wrk2, without whyslow: each connection has a fixed plan, sends what it is behind with at once, and latency
counts from when a request was planned. Prints the latencies in milliseconds, one a line.

Usage: wrk2.py PORT CONNECTIONS RATE SECONDS
"""

import heapq
import selectors
import socket
import sys
import time

REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def main():
    port, connections, rate, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
    ready = selectors.DefaultSelector()
    interval = connections / rate
    began = time.monotonic() + 0.1
    # Who is to send next, and when: wrk2 spreads its connections over the first interval.
    due = []
    for index in range(connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready.register(connection, selectors.EVENT_READ)
        heapq.heappush(due, (began + interval * index / connections, index, connection))
    planned, latencies = {}, []
    while due or planned:
        while due and due[0][0] <= time.monotonic():
            at, index, connection = heapq.heappop(due)
            if at < began + seconds:
                connection.sendall(REQUEST)
                planned[connection] = (at, index)
        wait = max(0.0, due[0][0] - time.monotonic()) if due else 1.0
        for key, _ in ready.select(wait):
            key.fileobj.recv(65536)
            at, index = planned.pop(key.fileobj)
            latencies.append(time.monotonic() - at)
            heapq.heappush(due, (at + interval, index, key.fileobj))
    print("\n".join(f"{1e3 * latency:.6f}" for latency in latencies))


main()
