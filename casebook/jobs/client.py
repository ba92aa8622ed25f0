"""Leaves jobs in a list in Redis, and waits for each to be done. Usage: client.py ADDRESS PORT JOBS polls|waits

Who `polls` looks at the job's state every 50 ms; who `waits` has Redis answer when there is something.
"""

import sys
import time

from redis import Redis


def poll(redis, job):
    while redis.ask("GET", f"state:{job}") != "done":
        time.sleep(0.05)  # casebook: not done yet


def wait(redis, job):
    redis.ask("BLPOP", f"done:{job}", 0)


def main():
    address, port, jobs, how = sys.argv[1:]
    redis = Redis(address, port)
    for job in range(1000, 1000 + int(jobs)):
        redis.ask("RPUSH", "jobs", job)
        (poll if how == "polls" else wait)(redis, job)
    print(f"{jobs} jobs")


main()
