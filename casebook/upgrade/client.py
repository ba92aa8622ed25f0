"""Fetches one address again and again over HTTPS, with a fresh ssl context for each request, as curl-test does.

Usage: client.py --cacert FILE REQUESTS URL

Prints the same lines as curl-test. Runs with the Python of any Debian release since bullseye.
"""

import http.client
import ssl
import sys
import time
import urllib.parse


def fetch(bundle, host, port, path):
    """The milliseconds until the request could be sent, and until the answer was there."""
    begun = time.perf_counter()
    context = ssl.create_default_context(cafile=bundle)  # casebook: the bundle for each request
    connection = http.client.HTTPSConnection(host, port, context=context)
    connection.connect()
    ready = time.perf_counter()
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    connection.close()
    if response.status != 200:
        raise SystemExit(f"client.py: the server answered {response.status}")
    return 1e3 * (ready - begun), 1e3 * (time.perf_counter() - begun)


def main():
    if len(sys.argv) != 5 or sys.argv[1] != "--cacert" or not sys.argv[3].isdigit():
        sys.exit("client.py: Usage: client.py --cacert FILE REQUESTS URL")
    bundle, requests, url = sys.argv[2], int(sys.argv[3]), urllib.parse.urlsplit(sys.argv[4])
    before = time.process_time()
    for _ in range(requests):
        pretransfer, total = fetch(bundle, url.hostname, url.port or 443, url.path or "/")
        now = time.process_time()
        print(f"pretransfer_ms={pretransfer:.3f} total_ms={total:.3f} cpu_ms={1e3 * (now - before):.3f}")
        before = now


main()
