"""Answers with a table of prices as JSON over HTTP. Usage: server.py ADDRESS PORT"""

import http.server
import json
import sys

STOCK = [{"name": f"item {number}", "price": 100 + number, "left": number % 7} for number in range(400)]


class Prices(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        content = json.dumps(priced()).encode()  # casebook: every object made is traced
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words):
        pass


def priced():
    """What is in stock, each with its price in words."""
    rows = []
    for item in STOCK:
        row = dict(item)
        row["shown"] = f"{item['price'] / 100:.2f} EUR"
        row["words"] = item["name"].upper().split()
        rows.append(row)
    return rows


def main():
    address, port = sys.argv[1:]
    http.server.ThreadingHTTPServer((address, int(port)), Prices).serve_forever()


main()
