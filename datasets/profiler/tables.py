"""The three tables that the profiler writes, and how their columns are checked.

Needs pyarrow; never torch.
"""

import json

# name, type, unit ("" if none), nullable, description
PROFILE = [
    ("profile", "utf8", "", False, "name of the model"),
    ("gpu", "utf8", "", False, "type of the GPU that the times are for"),
    ("source", "utf8", "", False, "analytic, measured or imported"),
    ("batch", "double", "sample", False, "mini-batch that times and activations are for"),
    ("layer", "double", "", False, "index of the layer, from 0"),
    ("name", "utf8", "", False, "name of the layer"),
    ("forward_ns", "double", "ns", False, "forward pass of the whole mini-batch on one GPU"),
    ("backward_ns", "double", "ns", False, "backward pass of the whole mini-batch on one GPU"),
    ("activation_bytes", "double", "B", False,
     "volume to the next layer, one direction, for the whole mini-batch; 0 in the last layer"),
    ("parameter_bytes", "double", "B", False,
     "trainable parameters, in the precision in which gradients are exchanged"),
    ("stored_bytes", "double", "B", True,
     "kept from the forward for the backward pass, for the whole mini-batch"),
]

INTERFERENCE = [
    ("gpu", "utf8", "", False, "type of the GPU"),
    ("model", "utf8", "", False, "model of the job whose iterations are timed"),
    ("batch", "double", "sample", False, "its mini-batch"),
    ("beside", "utf8", "", False, "model of the job on the same GPU"),
    ("beside_batch", "double", "sample", False, "that job's mini-batch"),
    ("alone_ns", "double", "ns", False, "median time of an iteration alone on the GPU"),
    ("shared_ns", "double", "ns", False, "median time of an iteration beside the other job"),
    ("xi", "double", "", False, "shared over alone; at least 1"),
    ("iterations", "double", "", False, "iterations timed beside the other job"),
]

STORAGE = [
    ("gpu", "utf8", "", False, "type of the GPU"),
    ("model", "utf8", "", False, "name of the model"),
    ("checkpoint_bytes", "double", "B", False, "size of the file: parameters and optimizer states"),
    ("save_ns", "double", "ns", False, "median time from GPU memory to stable storage"),
    ("load_ns", "double", "ns", False, "median time from storage to GPU memory"),
    ("repeats", "double", "", False, "times that each was done"),
]


def write(path, columns, rows, provenance):
    """Write rows, dictionaries by column name, as a Parquet file.

    The provenance (GPU, versions, date, arguments) becomes the file's metadata
    under the key yardstick.provenance, as JSON.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check(columns, rows)
    types = {"utf8": pa.string(), "double": pa.float64()}
    fields, arrays = [], []
    for name, kind, unit, nullable, description in columns:
        metadata = {"description": description, "unit": unit}
        fields.append(pa.field(name, types[kind], nullable=nullable, metadata=metadata))
        arrays.append(pa.array([row.get(name) for row in rows], type=types[kind]))
    schema = pa.schema(fields, metadata={"yardstick.provenance": json.dumps(provenance, sort_keys=True)})
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def check(columns, rows):
    """Raise ValueError if a row lacks a value, has one too many, or of the wrong kind."""
    if not rows:
        raise ValueError("there are no rows to write")
    names = {c[0] for c in columns}
    for i, row in enumerate(rows):
        if unknown := sorted(set(row) - names):
            raise ValueError(f"row {i + 1} has columns {unknown} that are not in the schema")
        for name, kind, _, nullable, _ in columns:
            value = row.get(name)
            if value is None:
                if not nullable:
                    raise ValueError(f"row {i + 1} has no {name}")
            elif kind == "utf8":
                if not isinstance(value, str) or not value:
                    raise ValueError(f"row {i + 1}: {name} is {value!r}: it must be a text")
            elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 2**53:
                raise ValueError(f"row {i + 1}: {name} is {value!r}: it must be a number from 0 to 2^53")


def profile_rows(model, gpu, batch, layers):
    """Return the rows of one profile.

    layers: dictionaries with name, forward_ns, backward_ns, activation_bytes,
    parameter_bytes and stored_bytes (or None), in order. Nothing follows the
    last layer, so its activation is written as 0.
    """
    rows = []
    for i, layer in enumerate(layers):
        row = {"profile": model, "gpu": gpu, "source": "measured", "batch": batch, "layer": i, **layer}
        for name in ("forward_ns", "backward_ns"):
            row[name] = round(row[name])
        if i == len(layers) - 1:
            row["activation_bytes"] = 0
        rows.append(row)
    return rows
