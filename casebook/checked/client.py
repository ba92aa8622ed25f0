"""Asks PostgreSQL for items by their keys, on one connection. Usage: client.py ADDRESS PORT QUERIES checked|transactions|fixed

With `checked` it asks before each whether the database is there, with `transactions` it reads each item in a transaction.
"""

import sys

import psycopg2


def ping(cursor):
    cursor.execute("SELECT 1")  # casebook: checks
    cursor.fetchone()


def item(cursor, number):
    cursor.execute("SELECT name FROM items WHERE id = %s", (number % 1000,))
    return cursor.fetchone()[0]


def main():
    address, port, queries, variant = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    connection = psycopg2.connect(host=address, port=port, user="postgres", dbname="postgres")
    connection.autocommit = variant != "transactions"
    cursor = connection.cursor()
    size = 0
    for number in range(queries):
        if variant == "checked":
            ping(cursor)
        size += len(item(cursor, number))
        if variant == "transactions":
            connection.commit()
    print(f"{queries} items, {size} bytes")


main()
