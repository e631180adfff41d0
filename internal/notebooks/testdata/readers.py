"""Reads every table of result directories with pyarrow, pandas, polars and DuckDB,
the way their users do, and fails where two of them see different values.

Usage: python readers.py DIRECTORY...
"""

import json
import pathlib
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc


def with_pyarrow(path):
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)
        return table.to_pydict()


def with_pandas(path):
    frame = pd.read_feather(path)
    # pandas stores a missing number as NaN, and then integers as floats; the files
    # themselves hold no NaN.
    return {name: [None if pd.isna(v) else v for v in frame[name].tolist()] for name in frame}


def with_polars(path):
    return pl.read_ipc(path).to_dict(as_series=False)


def with_duckdb(path):
    with pa.memory_map(str(path)) as source:
        rows = pa.ipc.open_file(source).read_all()
        found = duckdb.connect().execute("SELECT * FROM rows")
        names, values = [d[0] for d in found.description], found.fetchall()
    return {name: [row[i] for row in values] for i, name in enumerate(names)}


def main(directories):
    others = {"pandas": with_pandas, "polars": with_polars, "DuckDB": with_duckdb}
    tables = values = missing = 0
    for directory in map(pathlib.Path, directories):
        for entry in json.loads((directory / "manifest.json").read_text())["files"]:
            path = directory / entry["name"]
            want = with_pyarrow(path)
            assert all(len(column) == entry["rows"] for column in want.values()), f"{path}: rows"
            for reader, read in others.items():
                got = read(path)
                assert list(got) == list(want), f"{path}: {reader} has the columns {list(got)}, pyarrow {list(want)}"
                for name, column in want.items():
                    assert got[name] == column, f"{path}: column {name}: {reader} reads {got[name]}, pyarrow {column}"
            tables += 1
            values += sum(map(len, want.values()))
            missing += sum(v is None for column in want.values() for v in column)
    assert values > 10000 and missing > 100, "too little to compare"
    print(f"{tables} tables, {values} values, {missing} of them missing: equal in pyarrow, pandas, polars and DuckDB")


main(sys.argv[1:])
