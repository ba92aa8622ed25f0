"""What the tests have a Python client do. Usage: client.py PORT FOLDER STEPS...

Each step makes a context and a connection: `good` (trusting the server's certificate), `other` (trusting another one),
`name` (expecting another name), `blind` (verifying nothing), `key` (with a private key loaded), `many` (eight threads,
ten good ones each), `fork` (a child that makes a good one), `renewed` (the file is another now, without the server's
certificate). Prints for each whether it was answered.
"""

import os
import socket
import ssl
import sys
import threading

port, folder = int(sys.argv[1]), sys.argv[2]


def context(step):
    trusted = "other.pem" if step == "other" else "bundle.pem"
    made = ssl.create_default_context(cafile=f"{folder}/{trusted}")
    if step == "blind":
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if step == "key":
        made.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
    return made


def fetch(step):
    plain = socket.create_connection(("127.0.0.1", port))
    name = "elsewhere.test" if step == "name" else "server.test"
    try:
        with context(step).wrap_socket(plain, server_hostname=name) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: server.test\r\n\r\n")
            answer = b""
            while True:
                more = connection.recv(4096)
                if not more:
                    break
                answer += more
            return "answered" if answer.endswith(b"hello") else "cut"
    except ssl.SSLCertVerificationError:
        return "refused"
    except OSError as error:
        return f"failed: {error}"


def many():
    answers = []
    run = lambda: answers.extend(fetch("good") for _ in range(10))
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{answers.count('answered')} answered"


def renewed():
    os.link(f"{folder}/other.pem", f"{folder}/new.pem")
    os.replace(f"{folder}/new.pem", f"{folder}/bundle.pem")
    return fetch("good")


def in_a_child():
    child = os.fork()
    if child == 0:
        os._exit(0 if fetch("good") == "answered" else 1)
    return "answered" if os.waitpid(child, 0)[1] == 0 else "failed"


other_ways = {"many": many, "fork": in_a_child, "renewed": renewed}
print(" ".join(other_ways[step]() if step in other_ways else fetch(step) for step in sys.argv[3:]))
