"""Does the jobs of a list in Redis, one after the other. Usage: worker.py ADDRESS PORT"""

import sys
import time

from redis import Redis


def main():
    redis = Redis(*sys.argv[1:3])
    while True:
        _, job = redis.ask("BLPOP", "jobs", 0)
        time.sleep(0.005)  # what the job takes
        redis.ask("SET", f"state:{job}", "done")
        redis.ask("LPUSH", f"done:{job}", job)


main()
