"""Makes HTTPS requests, over one kept connection or over a fresh one each, and says what they took.

Usage: https-client.py kept|fresh ADDRESS PORT CERTIFICATE REQUESTS
"""

import http.client
import socket
import ssl
import sys
import time


def connect(context, address, port):
    connection = http.client.HTTPSConnection("casebook.test", port, context=context)
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sock = context.wrap_socket(plain, server_hostname="casebook.test")
    return connection


def main():
    mode, address, port, certificate, requests = sys.argv[1:]
    context = ssl.create_default_context(cafile=certificate)
    connection = connect(context, address, int(port))
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(int(requests)):
        if mode == "fresh":
            connection.close()
            connection = connect(context, address, int(port))
        connection.request("GET", "/hello")
        connection.getresponse().read()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"measured iterations={requests} wall_seconds={wall:.6f} cpu_seconds={cpu:.6f}")


main()
