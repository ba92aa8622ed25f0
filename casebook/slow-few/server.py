"""A server that keeps a list, and makes it anew now and then: within a request, or in a thread of its own."""
import http.server
import sys
import threading
import time

GOOD_FOR = 40


class Catalogue:
    def __init__(self, in_request):
        self.in_request = in_request
        self.used = 0

    def read(self):
        self.used += 1
        if self.used % GOOD_FOR == 0:
            if self.in_request:
                self.make_anew()
            else:
                threading.Thread(target=self.make_anew, daemon=True).start()

    def make_anew(self):
        time.sleep(0.2)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        catalogue.read()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


catalogue = Catalogue(sys.argv[3] == "in-request")
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
