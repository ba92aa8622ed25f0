"""Fetches one small page again and again through libcurl: a fresh handle for each request, or one for all.

Usage: curl.py ADDRESS PORT BUNDLE REQUESTS [shared]

A fresh handle makes a new TLS context and parses the whole bundle for it. With `shared`, one handle makes all requests;
it closes its connection and forgets its session after each, so that what is shared is what libcurl itself can share:
the parsed bundle (since 7.87, and only where no directory of certificates is searched; the context is made anew).
"""

import ctypes
import sys
import time

URL, WRITEFUNCTION, CAINFO, CAPATH, RESOLVE = 10002, 20011, 10065, 10097, 10203
FORBID_REUSE, SSL_SESSIONID_CACHE, TCP_NODELAY = 75, 150, 121
RESPONSE_CODE = 0x200002

curl = ctypes.CDLL("libcurl.so.4")
curl.curl_easy_init.restype = ctypes.c_void_p
curl.curl_slist_append.restype = ctypes.c_void_p
curl.curl_easy_strerror.restype = ctypes.c_char_p


@ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
def discard(_data, size, count, _own):
    return size * count


def handle(address, port, bundle):
    easy = ctypes.c_void_p(curl.curl_easy_init())
    names = ctypes.c_void_p(curl.curl_slist_append(None, f"casebook.test:{port}:{address}".encode()))
    curl.curl_easy_setopt(easy, RESOLVE, names)
    curl.curl_easy_setopt(easy, URL, f"https://casebook.test:{port}/hello".encode())
    curl.curl_easy_setopt(easy, CAINFO, bundle.encode())
    curl.curl_easy_setopt(easy, CAPATH, None)
    curl.curl_easy_setopt(easy, WRITEFUNCTION, discard)
    curl.curl_easy_setopt(easy, TCP_NODELAY, ctypes.c_long(1))
    return easy, names


def perform(easy):
    problem = curl.curl_easy_perform(easy)  # casebook: the bundle for each handle
    if problem:
        raise SystemExit(f"curl.py: {curl.curl_easy_strerror(problem).decode()}")
    code = ctypes.c_long()
    curl.curl_easy_getinfo(easy, RESPONSE_CODE, ctypes.byref(code))
    if code.value != 200:
        raise SystemExit(f"curl.py: the server answered {code.value}")


def clean_up(easy, names):
    curl.curl_easy_cleanup(easy)
    curl.curl_slist_free_all(names)


def fetch(address, port, bundle):
    easy, names = handle(address, port, bundle)
    perform(easy)
    clean_up(easy, names)


def measure(requests, request):
    request()  # the first one pays for what is loaded only once
    begun = time.process_time()
    for _ in range(requests - 1):
        request()
    return 1e3 * (time.process_time() - begun) / (requests - 1)


def main():
    address, port, bundle, requests = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    if sys.argv[5:] == ["shared"]:
        easy, names = handle(address, port, bundle)
        curl.curl_easy_setopt(easy, FORBID_REUSE, ctypes.c_long(1))
        curl.curl_easy_setopt(easy, SSL_SESSIONID_CACHE, ctypes.c_long(0))
        used = measure(requests, lambda: perform(easy))
        clean_up(easy, names)
    else:
        used = measure(requests, lambda: fetch(address, port, bundle))
    print(f"{requests} requests, {used:.3f} ms of CPU each")


main()
