"""Asks for reports, and asks again where none comes in time. Usage: client.py ADDRESS PORT REPORTS SECONDS"""

import sys
import urllib.request


def fetch(url, seconds):
    while True:
        try:
            with urllib.request.urlopen(url, timeout=seconds) as answer:  # casebook: a short timeout
                return answer.read()
        except TimeoutError:
            continue


def main():
    address, port, reports, seconds = sys.argv[1:]
    for number in range(int(reports)):
        content = fetch(f"http://{address}:{port}/{number}", float(seconds))
        if content != f"report of /{number}\n".encode():
            raise SystemExit("client.py: this is another report")
    print(f"{reports} reports")


main()
