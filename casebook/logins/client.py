"""Asks PostgreSQL for items by their keys. Usage: client.py ADDRESS PORT QUERIES slow|fixed

With `fixed` on one connection, else on a new one each time.
"""

import sys

import psycopg2


def connected(address, port):
    return psycopg2.connect(host=address, port=port, user="postgres", dbname="postgres")  # casebook: logs in


def item(connection, number):
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM items WHERE id = %s", (number % 1000,))
        return cursor.fetchone()[0]


def main():
    address, port, queries, variant = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    kept = connected(address, port) if variant == "fixed" else None
    size = 0
    for number in range(queries):
        connection = kept or connected(address, port)
        size += len(item(connection, number))
        if connection is not kept:
            connection.close()
    print(f"{queries} items, {size} bytes")


main()
