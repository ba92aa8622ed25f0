"""What the tests have a libcurl client do, with a fresh handle for each step. Usage: libcurl.py PORT FOLDER STEPS...

A step is `good` (trusting the server's certificate), `other` (trusting another one), `name` (another name for the same
address), `blind` (verifying nothing) or `again` (one handle, which keeps its certificates, for three requests and no
session of its own). Prints for each whether it was answered.
"""

import ctypes
import sys

URL, WRITEFUNCTION, CAINFO, CAPATH, RESOLVE = 10002, 20011, 10065, 10097, 10203
VERIFY_PEER, VERIFY_HOST, SESSIONS = 64, 81, 150
NOT_VERIFIED = 60

curl = ctypes.CDLL("libcurl.so.4")
curl.curl_easy_init.restype = ctypes.c_void_p
curl.curl_slist_append.restype = ctypes.c_void_p
port, folder = int(sys.argv[1]), sys.argv[2]


@ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
def discard(_data, size, count, _own):
    return size * count


def fetch(step):
    easy = ctypes.c_void_p(curl.curl_easy_init())
    name = "elsewhere.test" if step == "name" else "server.test"
    names = ctypes.c_void_p(curl.curl_slist_append(None, f"{name}:{port}:127.0.0.1".encode()))
    trusted = "other.pem" if step == "other" else "bundle.pem"
    curl.curl_easy_setopt(easy, RESOLVE, names)
    curl.curl_easy_setopt(easy, URL, f"https://{name}:{port}/".encode())
    curl.curl_easy_setopt(easy, CAINFO, f"{folder}/{trusted}".encode())
    curl.curl_easy_setopt(easy, WRITEFUNCTION, discard)
    if step == "blind":
        curl.curl_easy_setopt(easy, VERIFY_PEER, ctypes.c_long(0))
        curl.curl_easy_setopt(easy, VERIFY_HOST, ctypes.c_long(0))
    if step == "again":
        curl.curl_easy_setopt(easy, CAPATH, None)
        curl.curl_easy_setopt(easy, SESSIONS, ctypes.c_long(0))
        [curl.curl_easy_perform(easy) for _ in range(2)]
    problem = curl.curl_easy_perform(easy)
    curl.curl_easy_cleanup(easy)
    curl.curl_slist_free_all(names)
    return {0: "answered", NOT_VERIFIED: "refused"}.get(problem, f"failed: {problem}")


print(" ".join(fetch(step) for step in sys.argv[3:]))
