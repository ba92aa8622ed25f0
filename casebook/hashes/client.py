"""Sends a form again and again over one connection. Usage: client.py ADDRESS PORT FILE REQUESTS"""

import http.client
import sys


def main():
    address, port, path, requests = sys.argv[1:]
    with open(path, "rb") as file:
        form = file.read()
    connection = http.client.HTTPConnection(address, int(port))
    fields = set()
    for _ in range(int(requests)):
        connection.request("POST", "/", body=form)
        fields.add(int(connection.getresponse().read()))
    print(f"{requests} forms of {max(fields)} fields")


main()
