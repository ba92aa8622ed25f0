"""So many requests, one after the other, on one connection."""
import http.client
import sys

connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]))
for _ in range(int(sys.argv[3])):
    connection.request("GET", "/list")
    connection.getresponse().read()
