"""Fetches one small page again and again through libcurl: a fresh handle for each request, or one for all.

Usage: client.py ADDRESS PORT REQUESTS each|one
"""

import ctypes
import sys

URL, WRITEFUNCTION, SSL_VERIFYPEER, SSL_VERIFYHOST = 10002, 20011, 64, 81

curl = ctypes.CDLL("libcurl.so.4")
curl.curl_easy_init.restype = ctypes.c_void_p
size = 0


@ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
def count(_data, width, length, _own):
    global size
    size += width * length
    return width * length


def handle(url):
    easy = ctypes.c_void_p(curl.curl_easy_init())
    curl.curl_easy_setopt(easy, URL, url.encode())
    curl.curl_easy_setopt(easy, WRITEFUNCTION, count)
    # The server's certificate is its own: nobody's is asked for, and no file of them is read.
    curl.curl_easy_setopt(easy, SSL_VERIFYPEER, ctypes.c_long(0))
    curl.curl_easy_setopt(easy, SSL_VERIFYHOST, ctypes.c_long(0))
    return easy


def perform(easy):
    if curl.curl_easy_perform(easy):  # casebook: a context for each handle
        raise SystemExit("client.py: the page could not be had")


def main():
    address, port, requests, how = sys.argv[1:]
    url = f"https://{address}:{port}/hello"
    easy = handle(url)
    for _ in range(int(requests)):
        perform(easy)
        if how == "each":
            curl.curl_easy_cleanup(easy)
            easy = handle(url)
    print(f"{requests} requests, {size} bytes")


main()
