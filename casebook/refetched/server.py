"""Answers with prices in euros. Usage: server.py ADDRESS PORT each|kept

It asks a service for the rates with each request (each), or keeps them for a minute (kept). The service is a process of its own: the rates
lie in SQLite, and it reads all of them whenever it is asked.
"""

import http.client
import http.server
import json
import os
import sqlite3
import sys
import time

CURRENCIES = 3000
# The service has the same port as the server, at another address of the loopback interface.
RATES_ADDRESS = "127.0.0.2"
KEPT_S = 60


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def answer(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Rates(Handler):
    def do_GET(self):
        with sqlite3.connect(self.server.file, uri=True) as database:
            self.answer(json.dumps(dict(database.execute("SELECT currency, rate FROM rates"))))


class Prices(Handler):
    kept_until = 0

    def setup(self):
        super().setup()
        self.service = http.client.HTTPConnection(RATES_ADDRESS, self.server.server_port)

    def rates(self):
        if self.server.keeps and time.monotonic() < self.kept_until:
            return self.known
        self.service.request("GET", "/rates")  # casebook: with each request
        self.known = json.loads(self.service.getresponse().read())
        self.kept_until = time.monotonic() + KEPT_S
        return self.known

    def do_GET(self):
        item, currency = self.path.strip("/").split("/")
        self.answer(json.dumps({"item": item, "euros": round(int(item) / self.rates()[currency], 2)}))


def main():
    address, port, keeps = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "kept"
    rates = http.server.ThreadingHTTPServer((RATES_ADDRESS, port), Rates)
    rates.file = f"file:rates{os.getpid()}?mode=memory&cache=shared"
    if os.fork() == 0:
        serve_rates(rates)
    prices = http.server.ThreadingHTTPServer((address, port), Prices)
    prices.keeps = keeps
    rates.socket.close()
    prices.serve_forever()


def serve_rates(rates):
    sqlite = sqlite3.connect(rates.file, uri=True)
    sqlite.execute("CREATE TABLE rates (currency TEXT, rate REAL)")
    sqlite.executemany("INSERT INTO rates VALUES (?, ?)", ((f"C{number}", 1 + number / 7) for number in range(CURRENCIES)))
    sqlite.commit()
    rates.serve_forever()


main()
