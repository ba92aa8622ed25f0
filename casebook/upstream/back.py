"""The servers behind a proxy. Usage: back.py ADDRESS PORT [DEAD_PORT]

Answers at PORT. At DEAD_PORT it drops all that comes, as a firewall does, or a host that is down.
"""

import ctypes
import http.server
import socket
import struct
import sys

SO_ATTACH_FILTER = 26  # asm-generic/socket.h
DROP = struct.pack("=HBBI", 0x06, 0, 0, 0)  # BPF_RET: keep 0 bytes of the packet


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionResetError:
            pass  # the proxy was stopped


def dead(address, port):
    listener = socket.create_server((address, port))
    code = ctypes.create_string_buffer(DROP, len(DROP))
    listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
    return listener


def main():
    address, port = sys.argv[1], int(sys.argv[2])
    kept = dead(address, int(sys.argv[3])) if len(sys.argv) > 3 else None
    http.server.ThreadingHTTPServer((address, port), Handler).serve_forever()
    del kept


main()
