"""Fetches a file again and again. Usage: client.py ADDRESS PORT NAME REQUESTS"""

import http.client
import sys


def main():
    connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]))
    for _ in range(int(sys.argv[4])):
        connection.request("GET", "/" + sys.argv[3])
        answer = connection.getresponse()
        if answer.status != 200 or len(answer.read()) != 5000:
            raise SystemExit("client.py: not the whole file")
    print(f"{sys.argv[4]} files")


main()
