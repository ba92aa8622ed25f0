"""Asks for the orders of one customer after the other. Usage: client.py ADDRESS PORT REQUESTS"""

import sys

import psycopg2

CUSTOMERS = 20_000


def main():
    address, port, requests = sys.argv[1:]
    connection = psycopg2.connect(f"host={address} port={port} user=postgres dbname=postgres")
    connection.autocommit = True
    found = 0
    with connection.cursor() as cursor:
        for number in range(int(requests)):
            customer = number * 7919 % CUSTOMERS
            cursor.execute("SELECT id, total FROM orders WHERE customer = %s", (customer,))  # casebook: by customer
            found += len(cursor.fetchall())
    print(f"{requests} customers, {found} orders")


main()
