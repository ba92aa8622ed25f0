"""Runs the questions of this folder over cases in both engines that are installed (pip install duckdb chdb), and compares
their answers with each other, and one of them with a plain reading of the same tables. Ends with 1 where they differ.

Usage: check.py FOLDER   (cases in FOLDER/host=NAME/day=DATE/run=NAME/)
"""

import pathlib
import sys

import chdb.session
import duckdb

HERE = pathlib.Path(__file__).parent
TABLES = ["processes", "threads", "call_sums", "scheduler_sums"]


def in_duckdb(folder):
    connection = duckdb.connect()
    for table in TABLES:
        files = f"read_parquet('{folder}/*/*/*/tables/{table}.parquet', hive_partitioning = true)"
        connection.execute(f"CREATE VIEW {table} AS SELECT * REPLACE (CAST(day AS VARCHAR) AS day) FROM {files}")
    return lambda query: [list(row) for row in connection.execute(query).fetchall()]


def in_clickhouse(folder):
    session = chdb.session.Session()
    session.query("SET use_hive_partitioning = 1")
    session.query("CREATE DATABASE cases")
    session.query("USE cases")
    for table in TABLES:
        files = f"file('{folder}/*/*/*/tables/{table}.parquet', 'Parquet')"
        session.query(f"CREATE VIEW {table} AS SELECT * REPLACE (toString(day) AS day) FROM {files}")

    def ask(query):
        text = str(session.query(query, "TSV"))
        return [line.split("\t") for line in text.splitlines()]

    return ask


def alike(one, other):
    try:
        return abs(float(one) - float(other)) <= 1e-6 * max(1.0, abs(float(one)))
    except ValueError:
        return str(one) == str(other)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    engines = [in_duckdb(folder), in_clickhouse(folder)]
    differ = False
    for file in sorted(HERE.glob("*.sql")):
        one, other = (engine(file.read_text()) for engine in engines)
        same = len(one) == len(other) and all(alike(*pair) for rows in zip(one, other) for pair in zip(*rows))
        differ |= not same or not one
        print(f"{file.name}: {len(one)} rows, {'the same' if same else f'different: {one} and {other}'}")
    whole = sum(
        sum(column.to_pylist())
        for path in folder.glob("*/*/*/tables/scheduler_sums.parquet")
        for column in [duckdb.read_parquet(str(path)).arrow().read_all().column("on_cpu")]
    )
    asked = sum(row[3] for row in engines[0]((HERE / "crowded.sql").read_text()))
    print(f"crowded.sql: {asked:.6f} s on a CPU, {whole / 1e9:.6f} s file by file")
    sys.exit(differ or not alike(asked, whole / 1e9))


main()
