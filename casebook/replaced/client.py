"""Reads pages, one after the other. Usage: client.py ADDRESS PORT REQUESTS"""

import sys
import urllib.request


def main():
    address, port, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for number in range(requests):
        with urllib.request.urlopen(f"http://{address}:{port}/shop/7/pages/{number}") as answer:
            if answer.read() != f"page {number}\n".encode():
                raise SystemExit("client.py: this is another page")
    print(f"{requests} pages")


main()
