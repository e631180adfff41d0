"""Reads every table of a result directory with pyarrow, pandas and polars, the
way their users do, and prints what each of them saw as JSON:
{reader: {file: {column: [values]}}}, and the schema as pyarrow knows it.

Usage: python read.py DIRECTORY
"""

import hashlib
import json
import pathlib
import sys

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
    # pandas stores a missing number as NaN; the files themselves hold no NaN.
    return {name: [None if pd.isna(v) else v for v in frame[name].tolist()] for name in frame}


def with_polars(path):
    return pl.read_ipc(path).to_dict(as_series=False)


def describe(path):
    with pa.memory_map(str(path)) as source:
        schema = pa.ipc.open_file(source).schema
    return {
        "metadata": {k.decode(): v.decode() for k, v in (schema.metadata or {}).items()},
        "columns": [
            {
                "name": f.name,
                "type": str(f.type),
                "nullable": f.nullable,
                "metadata": {k.decode(): v.decode() for k, v in (f.metadata or {}).items()},
            }
            for f in schema
        ],
    }


def main(directory):
    directory = pathlib.Path(directory)
    manifest = json.loads((directory / "manifest.json").read_text())
    files = [directory / f["name"] for f in manifest["files"]]
    for f in manifest["files"]:
        assert hashlib.sha256((directory / f["name"]).read_bytes()).hexdigest() == f["sha256"], f["name"]
    readers = {"pyarrow": with_pyarrow, "pandas": with_pandas, "polars": with_polars}
    seen = {name: {p.name: read(p) for p in files} for name, read in readers.items()}
    versions = {"pyarrow": pa.__version__, "pandas": pd.__version__, "polars": pl.__version__}
    json.dump({"seen": seen, "schemas": {p.name: describe(p) for p in files}, "versions": versions}, sys.stdout, allow_nan=False)


main(sys.argv[1])
