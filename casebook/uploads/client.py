"""Uploads notes of 6,000 bytes, one after another. Usage: client.py ADDRESS PORT NOTES"""

import http.client
import sys

NOTE = b"all of it is needed. " * 286


def main():
    address, port, notes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connection = http.client.HTTPConnection(address, port)
    for number in range(notes):
        connection.request("PUT", f"/notes/{number}", body=NOTE)
        connection.getresponse().read()
    print(f"{notes} notes")


main()
