"""Runs the questions of this folder over cubes by `whyslow logs merge --sql` and in each engine that is installed (pip install
duckdb chdb), and compares the answers with each other and with those of `whyslow logs merge`. Ends with 1 where one differs.

Usage: check.py WHYSLOW FOLDER   (cubes in FOLDER/host=NAME/day=DATE/)
"""

import collections
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


def duckdb_engine(cubes):
    import duckdb

    connection = duckdb.connect()
    connection.execute(
        f"CREATE VIEW traffic AS SELECT * FROM read_parquet('{cubes}/**/*.parquet', hive_partitioning = true)"
    )
    return lambda query: [list(row) for row in connection.execute(query).fetchall()]


def clickhouse_engine(cubes):
    from chdb import session

    local = session.Session()
    local.query("SET use_hive_partitioning = 1")
    local.query(f"CREATE VIEW traffic AS SELECT * FROM file('{cubes}/**/*.parquet', 'Parquet')")

    def ask(query):
        text = str(local.query(query, "JSONCompactEachRow"))
        return [json.loads(line) for line in text.splitlines()]

    return ask


def own_engine(whyslow, cubes):
    def ask(query):
        asked = subprocess.run([whyslow, "logs", "merge", str(cubes), "--sql", query, "--json"], capture_output=True, check=True)
        return json.loads(asked.stdout)["rows"]

    return ask


def expected(traffic):
    """The rows that whyslow's own answer makes of the same questions, those that it can tell."""

    def figures(demand, missed=()):
        return [demand["requests"], demand["bytes"], demand["took_ns"] / 1e9, *missed]

    agents = [[one["name"], one["kind"], one["claim"], *figures(one["demand"])] for one in traffic["agents"]]
    routes = [[one["name"], *figures(one["demand"], [one["missed"]])] for one in traffic["routes"]]
    networks = [[one["name"], *figures(one["demand"])[:2], one["missed"]] for one in traffic["networks"]]
    hours = [
        [day["start_s"], hour, requests]
        for day in traffic["days"]
        for hour, requests in enumerate(day["requests"])
        if requests > 0
    ]
    return {"total": [figures(traffic["total"])], "agents": agents, "routes": routes, "networks": networks, "hours": hours}


def plain(rows):
    """Rows whose numbers are numbers, whatever the engine makes of large ones."""

    def value(cell):
        try:
            return round(float(cell), 3)
        except (TypeError, ValueError):
            return str(cell)

    return [[value(cell) for cell in row] for row in rows]


def main():
    whyslow, cubes = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    merged = subprocess.run([whyslow, "logs", "merge", str(cubes), "--json"], capture_output=True, check=False)
    own = expected(json.loads(merged.stdout))
    answers, different = collections.defaultdict(dict), 0
    engines = {"whyslow": lambda cubes: own_engine(whyslow, cubes), "duckdb": duckdb_engine, "clickhouse": clickhouse_engine}
    for name, engine in engines.items():
        try:
            ask = engine(cubes)
        except ImportError:
            print(f"{name}: not installed")
            continue
        for file in sorted(HERE.glob("*.sql")):
            began = time.monotonic()
            rows = plain(ask(file.read_text()))
            took = time.monotonic() - began
            answers[file.stem][name] = rows
            known = own.get(file.stem)
            # Where whyslow tells fewer columns, those are compared.
            same = known is None or [row[: len(known[0])] for row in rows] == plain(known)
            different += not same
            verdict = "compared with the other engine only" if known is None else "as whyslow's" if same else "DIFFERENT"
            print(f"{name} {file.stem}: {len(rows)} rows, {took * 1e3:.0f} ms, {verdict}")
    for question, by_engine in answers.items():
        if len({json.dumps(rows) for rows in by_engine.values()}) > 1:
            different += 1
            print(f"{question}: the engines differ")
    sys.exit(1 if different else 0)


main()
