#!/usr/bin/env python3
"""Measures the nine models of the A-SRPT paper on the GPU at hand.

    python profiler.py layers       -o profiles.parquet      # times and sizes of every layer
    python profiler.py interference -o interference.parquet  # pairs of jobs on one GPU
    python profiler.py storage      -o storage.parquet       # saving and loading checkpoints

README.md says what is measured and how. --tiny runs small models of the same
structure on the CPU, to try the program out.
"""

import argparse
import datetime
import itertools
import os
import platform
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import models
import tables

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


def parse(arguments):
    p = argparse.ArgumentParser(prog="profiler.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["layers", "interference", "storage"])
    p.add_argument("-o", "--output", required=True, help="Parquet file to write")
    p.add_argument("--models", default=",".join(models.BATCH), help="comma-separated; default: all nine")
    p.add_argument("--batch", type=int, default=0, help="mini-batch of every model; default: Table I of the paper, 2 with --tiny")
    p.add_argument("--gpu", default="", help="name of the GPU in the table; default: found out")
    p.add_argument("--device", default="", help="torch device; default: cuda, or cpu with --tiny")
    p.add_argument("--precision", choices=DTYPES, default="", help="default: bf16, fp16 on GPUs without it, fp32 on a CPU")
    p.add_argument("--limit", type=int, default=3, help="layers of each kind timed of a large model (default 3)")
    p.add_argument("--seconds", type=float, default=20, help="length of an interference run (default 20)")
    p.add_argument("--repeats", type=int, default=50, help="most repeats of a timing (default 50)")
    p.add_argument("--folder", default="", help="where checkpoints go; default: the system's temporary folder")
    p.add_argument("--tiny", action="store_true", help="small models of the same structure")
    o = p.parse_args(arguments)
    o.models = [m.strip() for m in o.models.split(",") if m.strip()]
    for m in o.models:
        if m not in models.BATCH:
            p.error(f"there is no model {m!r}: {', '.join(models.BATCH)}")
    if not o.models:
        p.error("--models names none")
    if o.batch < 0 or o.limit < 1 or o.repeats < 1 or not o.seconds > 0:
        p.error("--batch must be at least 0, --limit and --repeats at least 1, --seconds positive")
    if not os.path.isdir(os.path.dirname(os.path.abspath(o.output))):
        p.error(f"the folder of {o.output} does not exist")
    return o


def gpu_name(device_name):
    """Return the short name of a GPU: v100, a100, h100, h200, or a slug of what it is called."""
    words = device_name.lower().replace("-", " ").replace("_", " ").split()
    for known in ("v100", "a100", "h100", "h200"):
        if known in words:
            return known
    return "-".join(w for w in words if w not in ("nvidia", "geforce", "tesla")) or "unknown"


def choose_device(o):
    """Return device, dtype's name and GPU's name; exits with one line where there is none."""
    try:
        import torch
    except ImportError:
        sys.exit("profiler.py: PyTorch is needed to measure: pip install torch")
    device = o.device or ("cpu" if o.tiny else "cuda")
    if device.startswith("cuda") and not torch.cuda.is_available():
        sys.exit("profiler.py: there is no GPU that PyTorch can use; --tiny tries the program out on the CPU")
    if not device.startswith("cuda"):
        return device, DTYPES[o.precision or "fp32"], o.gpu or "cpu"
    torch.cuda.set_device(device if ":" in device else 0)
    precision = o.precision or ("bf16" if torch.cuda.get_device_capability() >= (8, 0) else "fp16")
    return device, DTYPES[precision], o.gpu or gpu_name(torch.cuda.get_device_name())


def provenance(device, dtype, arguments):
    import torch

    out = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "precision": dtype,
        "arguments": arguments, "python": platform.python_version(), "torch": torch.__version__, "system": platform.platform(),
    }
    if device.startswith("cuda"):
        out.update(device=torch.cuda.get_device_name(), cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version())
    return out


def say(text):
    print(text, file=sys.stderr, flush=True)


def main(arguments):
    o = parse(arguments)
    device, dtype, gpu = choose_device(o)
    import torch

    import measure

    least = min(7, o.repeats)
    repeats = {"warmup": 3, "least": least, "most": o.repeats}
    rows, columns = [], {"layers": tables.PROFILE, "interference": tables.INTERFERENCE, "storage": tables.STORAGE}[o.what]
    if o.what == "layers":
        for name in o.models:
            model = models.build(name, o.batch, o.tiny)
            limit = o.limit if name in models.LARGE else 0
            layers = measure.measure_model(model, limit, device, getattr(torch, dtype), repeats, say)
            rows += tables.profile_rows(name, gpu, model.batch, layers)
    elif o.what == "interference":
        pairs = itertools.combinations_with_replacement(o.models, 2)
        rows = measure.interference(pairs, lambda name: (name, o.batch, o.tiny, device, dtype), o.seconds, say)
        rows = [{"gpu": gpu, **row} for row in rows]
    else:
        repeats.update(warmup=1, most=min(o.repeats, 15))
        repeats["least"] = min(least, repeats["most"])
        for name in o.models:
            row = measure.storage(name, o.tiny, device, getattr(torch, dtype), o.folder or None, repeats)
            rows.append({"gpu": gpu, **row})
            say(f"{name}: saved in {row['save_ns'] / 1e9:.3f} s, loaded in {row['load_ns'] / 1e9:.3f} s")
    tables.write(o.output, columns, rows, provenance(device, dtype, arguments))
    say(f"wrote {len(rows)} rows to {o.output}")


if __name__ == "__main__":
    main(sys.argv[1:])
