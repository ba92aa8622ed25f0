"""Asks for pages again and again by a new curl, which trusts the certificates of a folder.

Usage: client.py ADDRESS PORT FOLDER OTHER REQUESTS

OTHER is a file with a certificate of somebody else: without one, curl reads the bundle of the distribution as well.
"""

import subprocess
import sys


def main():
    address, port, folder, other, requests = sys.argv[1:]
    url = f"https://{address}:{port}/hello"
    # Three pages each, so that a connection is worth having.
    command = ["curl", "--silent", "--fail", "--capath", folder, "--cacert", other, *[url] * 3, *["--output", "/dev/null"] * 3]
    for _ in range(int(requests)):
        subprocess.run(command, check=True)
    print(f"{requests} visits")


main()
