"""Compares the tables of every Experiment as DuckDB, pyarrow and evalkit read them."""

import json
import pathlib
import subprocess
import sys

import duckdb
import pyarrow.parquet as pq

TABLES = ["documents", "queries", "chunks", "tree", "retrieved", "scores", "summary"]


def by_duckdb(path):
    rel = duckdb.sql(f"select * from read_parquet('{path}')")
    return [dict(zip(rel.columns, row)) for row in rel.fetchall()]


def by_evalkit(command, results, experiment, table):
    out = subprocess.run(
        [command, "export", experiment, "--results", results, "--jsonl", table],
        check=True, capture_output=True, text=True,
    ).stdout
    return [json.loads(line) for line in out.splitlines()]


def main(command, results):
    rows = nulls = 0
    for folder in sorted(pathlib.Path(results).iterdir()):
        for table in TABLES:
            path = folder / f"{table}.parquet"
            arrow = pq.read_table(path)
            meta = arrow.schema.metadata
            missing = [c for c in arrow.column_names if f"column.{c}".encode() not in meta]
            assert not missing, f"{path}: columns without a description: {missing}"
            own = by_evalkit(command, results, folder.name, table)
            for reader, other in (("pyarrow", arrow.to_pylist()), ("duckdb", by_duckdb(path))):
                assert other == own, f"{path}: {reader} reads other rows: {next((a, b) for a, b in zip(other, own) if a != b)}"
            assert own or table == "tree", f"{path}: no rows"
            rows += len(own)
            nulls += sum(v is None for row in own for v in row.values())
    assert nulls, "no null was checked"
    print(f"readers: {rows} rows with {nulls} nulls are the same in DuckDB {duckdb.__version__}, pyarrow and evalkit")


main(*sys.argv[1:])
