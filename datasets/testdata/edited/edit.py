"""Edits a trace as people do: python edit.py TRACE.parquet FOLDER.

The files beside this one are those of the first 60 rows of builtin:philly-like.
"""

import os
import sys

import pandas
import pyarrow.compute
import pyarrow.parquet

trace, folder = sys.argv[1:]
table = pyarrow.parquet.read_table(trace)
frame = pandas.read_parquet(trace)
long = pyarrow.compute.greater(table["duration_s"], 600)


def arrow(name, edited):
    pyarrow.parquet.write_table(edited, os.path.join(folder, "arrow-%s.parquet" % name))


def pandas_(name, edited):
    edited.to_parquet(os.path.join(folder, "pandas-%s.parquet" % name))


arrow("copied", table)
arrow("filtered", table.filter(long))
arrow("shortened", table.select(["trace", "job_id", "submit_s", "duration_s", "gpus"]))
weights = pyarrow.array([2.0] * len(table))
arrow("weighted", table.set_column(table.schema.get_field_index("weight"), "weight", weights))
pandas_("filtered", frame[frame.duration_s > 600])
pandas_("weighted", frame.assign(weight=2.0))
