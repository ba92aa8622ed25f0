"""A list of orders with the names of their goods, from PostgreSQL, over HTTP.

Usage: server.py ADDRESS PORT DATABASE'S-PORT each|join
"""

import http.server
import sys
import threading

import psycopg2


class Orders(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    database, how = "", ""
    local = threading.local()

    def do_GET(self):
        if not hasattr(self.local, "connection"):
            self.local.connection = psycopg2.connect(self.database)
            self.local.connection.autocommit = True
        with self.local.connection.cursor() as cursor:
            names = self.one_by_one(cursor) if self.how == "each" else self.at_once(cursor)
        content = "\n".join(names).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def one_by_one(self, cursor):
        cursor.execute("SELECT item FROM orders ORDER BY id")
        names = []
        for (item,) in cursor.fetchall():
            cursor.execute("SELECT name FROM items WHERE id = %s", (item,))  # casebook: a query for each row
            names.append(cursor.fetchone()[0])
        return names

    def at_once(self, cursor):
        cursor.execute("SELECT name FROM orders JOIN items ON items.id = orders.item ORDER BY orders.id")
        return [name for (name,) in cursor.fetchall()]

    def log_message(self, *words):
        pass


def main():
    address, port, database, Orders.how = sys.argv[1:]
    Orders.database = f"host={address} port={database} user=postgres dbname=postgres"
    http.server.ThreadingHTTPServer((address, int(port)), Orders).serve_forever()


main()
