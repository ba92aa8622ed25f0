"""Writes what is asked for into a journal. Usage: service.py ADDRESS:PORT|SOCKET FOLDER slow|unix|fixed

With `fixed` it leaves the journal to the kernel, else it waits for the disk each time.
"""

import http.server
import os
import socketserver
import sys

ANSWER = b"stored\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write

    def do_GET(self):
        store(f"{self.path}\n".encode())
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


class Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def store(entry):
    os.write(JOURNAL, entry)
    if VARIANT != "fixed":
        os.fsync(JOURNAL)  # casebook: syncs


WHERE, FOLDER, VARIANT = sys.argv[1:4]
JOURNAL = os.open(os.path.join(FOLDER, "journal"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
if "/" in WHERE:
    if os.path.exists(WHERE):
        os.unlink(WHERE)
    server = Unix(WHERE, Handler)
    os.chmod(WHERE, 0o666)  # the proxy's workers are other users
else:
    address, port = WHERE.split(":")
    server = http.server.ThreadingHTTPServer((address, int(port)), Handler)
open(os.path.join(FOLDER, "ready"), "w").close()
server.serve_forever()
