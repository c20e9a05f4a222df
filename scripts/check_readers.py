"""Compares the tables of every Experiment as DuckDB, pyarrow and evalkit read them,
and hands vectors over both ways.

    python scripts/check_readers.py EVALKIT RESULTS VECTORS OUT

VECTORS is what `evalkit vectors` wrote for the Experiments; OUT gets the same, as
a table of texts and 64-bit numbers.
"""

import hashlib
import json
import pathlib
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

TABLES = ["documents", "queries", "chunks", "tree", "retrieved", "candidates", "scores", "summary"]


def by_duckdb(path):
    rel = duckdb.sql(f"select * from read_parquet('{path}')")
    return [dict(zip(rel.columns, row)) for row in rel.fetchall()]


def by_evalkit(command, results, experiment, table):
    out = subprocess.run(
        [command, "export", experiment, "--results", results, "--jsonl", table],
        check=True, capture_output=True, text=True,
    ).stdout
    return [json.loads(line) for line in out.splitlines()]


def texts_of(folder):
    """The texts that an Experiment embeds, by kind."""
    read = lambda table: pq.read_table(folder / f"{table}.parquet").to_pylist()
    documents = {d["doc"]: d["text"].encode() for d in read("documents")}
    for chunk in read("chunks"):
        for unit in chunk["units"] or [chunk]:
            text = documents[chunk["doc"]][unit["start"]:unit["end"]].decode()
            yield "passage", f"{chunk['header']}\n{text}" if chunk["header"] else text
    for query in read("queries"):
        yield "query", query["question"]


def hand_over(results, source, target):
    """Writes the vectors again, with texts in place of digests."""
    named = {f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}": (kind, text)
             for folder in pathlib.Path(results).iterdir() for kind, text in texts_of(folder)}
    rows = [(*named[r["sha256"]], r["vector"]) for r in pq.read_table(source).to_pylist()]
    kinds, texts, vectors = zip(*rows)
    pq.write_table(pa.table({"kind": pa.array(kinds).dictionary_encode(), "text": texts,
                             "embedding": pa.array(vectors, pa.list_(pa.float64()))}), target)
    print(f"readers: {len(rows)} vectors read and written by pyarrow {pa.__version__}")


def main(command, results, vectors, out):
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
    hand_over(results, vectors, out)
    print(f"readers: {rows} rows with {nulls} nulls are the same in DuckDB {duckdb.__version__}, pyarrow and evalkit")


main(*sys.argv[1:])
