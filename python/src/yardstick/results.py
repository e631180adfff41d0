"""Yardstick's result directories as polars frames: checked, typed, and plotted.

A result directory is what `bench run` and `bench place` write: manifest.json and
one Arrow file per table. docs/columns.md describes every column; each file
carries the same words. `load` takes one such directory, or a folder of several,
whose tables it stacks with the directory's name in the column `run`.

>>> import polars as pl
>>> import yardstick.results as yr
>>> results = yr.load("golden")                          # or results/my-suite
>>> list(results.runs)
['gang', 'models', 'placing']
>>> results.unit("ratios", "jct_mean_s"), results.meaning("jobs", "gpus")
('s', 'gang size, or the most GPUs held at a time')
>>> gang = yr.with_ratio(results.ratios.filter(pl.col("model") == "gang"))
>>> gang["ratio"].min()                                  # nothing is better than optimal
1.0
>>> table = yr.ratio_table(gang)                         # as `bench report` prints it
>>> table.columns[-7:]
['denominator', 'count', 'geo_mean', 'median', 'p95', 'worst', 'mean_cost']
>>> exact = yr.exact(gang["cost_exact"])                 # fractions.Fraction, not rounded
>>> all(float(e) == c for e, c in zip(exact, gang["cost"]))
True
>>> slow = results.jobs.join(gang.select("run", "cell_id", "method"), on=["run", "cell_id"])
>>> slow = slow.filter(pl.col("iteration_s") > pl.col("iteration_best_s"))
>>> axes = yr.ecdf(gang, "ratio", xlabel="cost / optimum")
>>> axes.get_ylabel()
'share of instances'
"""

import glob
import hashlib
import json
import math
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

try:
    import polars as pl
    import pyarrow as pa
    import pyarrow.ipc
except ModuleNotFoundError as e:
    raise ModuleNotFoundError(f"yardstick reads tables with polars and pyarrow, and {e.name} is missing: pip install 'yardstick[tables]'", name=e.name) from None

SCHEMA_VERSION = 1
TABLES = ("ratios", "jobs", "segments", "solves", "bounds", "predictions", "placements", "theorems", "events", "instances")

# What the format allows: nothing is dictionary-encoded, and times are seconds.
TYPES = {pa.utf8(), pa.float64(), pa.int32(), pa.int64(), pa.bool_()}


class ResultError(Exception):
    """What was loaded is not the result directory that a program wrote."""


# --- Loading ---------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One result directory, checked against its manifest."""

    name: str
    path: Path
    manifest: dict[str, Any]
    tables: dict[str, pa.Table]


class Result:
    """The tables of one or several runs, as polars frames with a column `run`."""

    def __init__(self, runs: list[Run]):
        self.runs = {run.name: run for run in runs}
        self._frames: dict[str, pl.DataFrame] = {}

    def table(self, name: str) -> pl.DataFrame:
        """The table's rows in all runs. Columns that only some runs have, such as
        those of swept parameters, are null in the others."""
        if name not in self._frames:
            frames = []
            for run in self.runs.values():
                if name in run.tables:
                    frame = pl.DataFrame(pl.from_arrow(run.tables[name]))
                    frames.append(frame.select(pl.lit(run.name).alias("run"), pl.all()))
            if not frames:
                raise ResultError(f"no run has a table {name}: the program that wrote them is too old")
            self._frames[name] = pl.concat(frames, how="diagonal_relaxed")
        return self._frames[name]


    @property
    def ratios(self) -> pl.DataFrame:
        return self.table("ratios")

    @property
    def jobs(self) -> pl.DataFrame:
        return self.table("jobs")

    @property
    def segments(self) -> pl.DataFrame:
        return self.table("segments")

    @property
    def solves(self) -> pl.DataFrame:
        return self.table("solves")

    @property
    def bounds(self) -> pl.DataFrame:
        return self.table("bounds")

    @property
    def predictions(self) -> pl.DataFrame:
        return self.table("predictions")

    @property
    def placements(self) -> pl.DataFrame:
        return self.table("placements")

    @property
    def theorems(self) -> pl.DataFrame:
        return self.table("theorems")

    @property
    def events(self) -> pl.DataFrame:
        return self.table("events")

    @property
    def instances(self) -> pl.DataFrame:
        return self.table("instances")

    def columns(self, table: str) -> pl.DataFrame:
        """Every column of a table: its type, unit, group and meaning."""
        rows: dict[str, tuple[str | None, ...]] = {}
        for run in self.runs.values():
            for field in run.tables[table].schema if table in run.tables else ():
                about = {k.decode(): v.decode() for k, v in (field.metadata or {}).items()}
                rows.setdefault(field.name, (field.name, str(field.type), about.get("unit"), about.get("group"), about.get("description")))
        return pl.DataFrame(list(rows.values()), schema=["column", "type", "unit", "group", "meaning"], orient="row")

    def meaning(self, table: str, column: str) -> str:
        """What a column holds, in the words of its file."""
        return str(self.columns(table).row(by_predicate=pl.col("column") == column, named=True)["meaning"])

    def unit(self, table: str, column: str) -> str | None:
        """The unit of a column, if it has one."""
        unit: str | None = self.columns(table).row(by_predicate=pl.col("column") == column, named=True)["unit"]
        return unit


def load(path: str | Path | None = None) -> Result:
    """Load a result directory, or every one in a folder of them.

    Without a path: what the environment variable YARDSTICK_RESULTS names, else
    the folder golden of the working directory, as the notebooks have one.
    """
    path = Path(path or os.environ.get("YARDSTICK_RESULTS") or "golden")
    if (path / "manifest.json").exists():
        return Result([open_run(path)])
    if not any(path.glob("*/manifest.json")):
        raise ResultError(f"{path} holds no manifest.json: it is no result directory, or its run did not end")
    return read_runs(os.path.join(glob.escape(str(path)), "*"))


def read_runs(*patterns: str | Path) -> Result:
    """Load the result directories that paths or patterns such as results/* match, as one. A column that only some of them
    have is null in the others. A run is called as its directory is, with as many of the folders above it as tell all apart.

    Errors: ResultError if a pattern matches no result directory; what load raises.

    >>> read_runs("golden/*").runs.keys()
    dict_keys(['gang', 'models', 'placing'])
    >>> read_runs("golden/m*", "golden/gang").instances["offered_load"].is_null().any()
    True
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        matched = [Path(p) for p in sorted(glob.glob(str(pattern))) if Path(p, "manifest.json").exists()]
        if not matched:
            raise ResultError(f"{pattern} matches no result directory, which has a manifest.json")
        found |= dict.fromkeys(matched)
    length = 1
    while len({p.absolute().parts[-length:] for p in found}) < len(found):
        length += 1
    return Result([open_run(p, "/".join(p.absolute().parts[-length:])) for p in found])


def open_run(path: Path, name: str = "") -> Run:
    """Read a result directory and check every hash, row count, type and version. Its name is that of the directory
    unless another is given."""
    text = (path / "manifest.json").read_bytes()
    manifest = json.loads(text)
    if manifest.get("format_version") != SCHEMA_VERSION:
        raise ResultError(f"{path}: format_version is {manifest.get('format_version')}: this module reads {SCHEMA_VERSION}")
    _check_seal(path, text, manifest.get("manifest_sha256", ""))
    tables = {}
    for entry in manifest["files"]:
        data = (path / entry["name"]).read_bytes()
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise ResultError(f"{path / entry['name']} is not the file that the manifest lists: its sha256 differs")
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
        _check_table(path / entry["name"], table, entry["rows"], manifest["plan_id"])
        tables[entry["name"].removesuffix(".arrow")] = table
    return Run(name or path.name, path, manifest, tables)


def _check_seal(path: Path, text: bytes, seal: str) -> None:
    """Compare a manifest with the hash of itself, zeros in its place, that it ends with."""
    if not seal:
        return  # manifests written before there was one
    at = text.rindex(seal.encode())
    blank = text[:at] + b"0" * len(seal) + text[at + len(seal) :]
    if hashlib.sha256(blank).hexdigest() != seal:
        raise ResultError(f"{path / 'manifest.json'} is not the file that was written: its sha256 differs")


def _check_table(path: Path, table: pa.Table, rows: int, plan: str) -> None:
    about = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
    if about.get("bench.schema_version") != str(SCHEMA_VERSION):
        raise ResultError(f"{path}: bench.schema_version is {about.get('bench.schema_version')}: this module reads {SCHEMA_VERSION}")
    if about.get("bench.plan_id") != plan:
        raise ResultError(f"{path} is of another run than its manifest")
    if table.num_rows != rows:
        raise ResultError(f"{path} has {table.num_rows} rows, its manifest says {rows}")
    for field in table.schema:
        if field.type not in TYPES:
            raise ResultError(f"{path}: column {field.name} has the type {field.type}, which the format does not know")


# --- Numbers ---------------------------------------------------------------


def exact(values: pl.Series) -> list[Fraction | None]:
    """The values of a column that ends in _exact, such as 7/2, as fractions."""
    return [None if v is None else Fraction(v) for v in values]


def with_ratio(ratios: pl.DataFrame) -> pl.DataFrame:
    """Add `ratio`, the best that is proven, and `denominator`, what it is over:
    optimum, lower bound (the ratio is at most this) or none (there is no ratio)."""
    return ratios.with_columns(
        pl.coalesce("ratio_to_optimum", "ratio_to_lower_bound").alias("ratio"),
        pl.when(pl.col("ratio_to_optimum").is_not_null())
        .then(pl.lit("optimum"))
        .when(pl.col("ratio_to_lower_bound").is_not_null())
        .then(pl.lit("lower bound"))
        .otherwise(pl.lit("none"))
        .alias("denominator"),
    )


def swept(frame: pl.DataFrame) -> list[str]:
    """The columns of the parameters that a suite's matrix swept."""
    return [c for c in frame.columns if c.startswith("p_")]


def ratio_table(ratios: pl.DataFrame, by: list[str] | None = None) -> pl.DataFrame:
    """One row per method and kind of denominator, as `bench report` prints it.

    A group is a run, family, setting of the swept parameters and objective, or
    what `by` lists. Percentiles are nearest-rank: ratios that were measured.
    """
    by = by or ["run", "suite", "family", *swept(ratios), "model", "objective"]
    sizes = ratios.group_by(by).agg(pl.struct("run", "instance").n_unique().alias("instances"))
    solved = ratios.group_by(*by, "method").agg(pl.col("cost").is_not_null().sum().alias("solved"))

    def percentile(p: int) -> pl.Expr:
        return pl.col("ratio").sort().get((pl.len() * p + 99) // 100 - 1)

    table = (
        with_ratio(ratios)
        .filter(pl.col("cost").is_not_null())
        .group_by(*by, "method", "kind", "denominator", maintain_order=True)
        .agg(
            pl.len().alias("count"),
            pl.col("ratio").log().mean().exp().alias("geo_mean"),
            percentile(50).alias("median"),
            percentile(95).alias("p95"),
            percentile(100).alias("worst"),
            pl.col("cost").mean().alias("mean_cost"),
        )
        .join(sizes, on=by, how="left", nulls_equal=True, maintain_order="left")
        .join(solved, on=[*by, "method"], how="left", nulls_equal=True, maintain_order="left")
    )
    last = ["denominator", "count", "geo_mean", "median", "p95", "worst", "mean_cost"]
    return table.select(*by, "method", "kind", "instances", "solved", *last)


INSTANCE = ("run", "instance", "objective")  # what tells apart the instances that methods are compared on


def common(frame: pl.DataFrame, by: str = "method", key: tuple[str, ...] = INSTANCE, within: tuple[str, ...] = ()) -> pl.DataFrame:
    """The rows of the instances that every method of the frame, or of the same
    values of the columns `within`, has a row for: so that what is said of each is
    said of the same instances."""
    ran = pl.col(by).n_unique()
    return frame.filter(ran.over([*key, *swept(frame), *within]) == (ran.over(within) if within else ran))


def over(frame: pl.DataFrame) -> str:
    """What the ratios of a frame are over; ≤ where some are over bounds, and the
    truth is at most what is shown."""
    kinds = [k for k in ("optimum", "lower bound") if k in names(frame, "denominator")]
    return " or ".join("lower bound (≤)" if k == "lower bound" else k for k in kinds)


def mean_ratios(frame: pl.DataFrame, by: str = "method", key: tuple[str, ...] = INSTANCE) -> pl.DataFrame:
    """The geometric mean of the ratios of every method, over the `instances` on which
    all have one. With `sign` ≤ some ratio of the method is over a bound, and the mean
    over the optimum is at most this one."""
    rows = common(with_ratio(frame).drop_nulls("ratio"), by, key)
    return rows.group_by(by, maintain_order=True).agg(
        pl.col("ratio").log().mean().exp(),
        pl.len().alias("instances"),
        pl.when((pl.col("denominator") == "optimum").all()).then(pl.lit("")).otherwise(pl.lit("≤")).alias("sign"),
    )


def profile(ratios: pl.DataFrame) -> pl.DataFrame:
    """Add `factor`, the cost over the least cost of the methods on the same instance,
    to the rows of the instances on which all of them ran."""
    rows = common(ratios)
    key = [*INSTANCE, *swept(rows)]
    least, most = pl.col("cost").min().over(key), pl.col("cost").max().over(key)
    return rows.with_columns(pl.when(pl.col("sense") == "max").then(most / pl.col("cost")).otherwise(pl.col("cost") / least).alias("factor"))


def with_setting(results: Result, frame: pl.DataFrame, key: str) -> pl.DataFrame:
    """Add a key of the suite, such as sharing.xi, as a column of its own name: the
    swept value, or else what the suite says about the row's family."""
    rows = {}
    for run in results.runs.values():
        for source in (run.manifest.get("suite") or {}).get("instances", []):
            value = source
            for part in key.split("."):
                value = {k.lower(): v for k, v in value.items()}.get(part.lower()) if isinstance(value, dict) else None
            rows[run.name, source["name"]] = None if value is None else str(value)
    families = pl.DataFrame([(*k, v) for k, v in rows.items()], schema={"run": pl.Utf8, "family": pl.Utf8, key: pl.Utf8}, orient="row")
    frame = frame.join(families, on=["run", "family"], how="left", maintain_order="left")
    column = "p_" + re.sub("[^a-z0-9]", "_", key.lower())
    if column in frame.columns:
        frame = frame.with_columns(pl.coalesce(pl.col(column).cast(pl.Utf8), key).alias(key))
    return frame


def natural(text) -> tuple[float, str]:
    """A key that sorts 1Gbps, 10Gbps and 50Gbps, or 3s, 1m40s and 1h, by size."""
    text = str(text)
    span = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:([0-9.]+)(s|ms|µs))?", text)
    if text and span:
        seconds = float(span[3] or 0) * {None: 1, "s": 1, "ms": 1e-3, "µs": 1e-6}[span[4]]
        return 3600 * float(span[1] or 0) + 60 * float(span[2] or 0) + seconds, text
    number = re.match(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([kKMGT]?)", text)
    if not number:
        return math.inf, text
    return float(number[1]) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[number[2]], text


def groups(frame: pl.DataFrame, *columns: str) -> dict[str, pl.DataFrame]:
    """The rows of every combination of values of the columns, by a title of these."""
    return {" · ".join(str(v) for v in key): rows for key, rows in frame.group_by(columns, maintain_order=True)}


def vary(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Rows that differ in the swept parameter `column` alone: those of the setting
    of the others under which it takes the most values."""
    others = ["family", *(c for c in swept(frame) if c != column)]
    frame = frame.filter(pl.col(column).is_not_null())
    if frame.is_empty():
        return frame
    counts = frame.group_by(others, maintain_order=True).agg(pl.col(column).n_unique().alias("n"))
    most = counts.sort("n", descending=True, maintain_order=True).head(1)
    return frame.join(most, on=others, how="semi", nulls_equal=True)


def some(frame: pl.DataFrame, what: str) -> bool:
    """Whether there are rows to show; says so where there are none."""
    if frame.is_empty():
        print(f"Nothing to show here: these results hold no {what}.")
    return not frame.is_empty()


# --- Plots -----------------------------------------------------------------
#
# Every plot draws on the axes that it is given, or on new ones, labels them
# with units, and returns them. Methods keep their colour within a plot.


LINES = ("-", "--", "-.", ":")  # so that curves that coincide are seen


def panels(n: int, width: float = 5.0, height: float = 4.0, columns: int = 3):
    """Axes for n plots, at most three beside each other."""
    import matplotlib.pyplot as plt

    if n == 0:
        return []
    rows, columns = -(-n // columns), min(n, columns)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), layout="constrained", squeeze=False)
    for ax in axes.flat[n:]:
        figure.delaxes(ax)
    return list(axes.flat[:n])


def _axes(ax, size=(7.0, 4.0)):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def names(frame: pl.DataFrame, column: str = "method") -> list[str]:
    """The values of a column, in the order in which rows first mention them."""
    return frame[column].drop_nulls().unique(maintain_order=True).to_list()


def ecdf(frame: pl.DataFrame, x: str, xlabel: str, by: str = "method", what: str = "instances", ax=None, log: bool = False):
    """Empirical distribution: at each x, the share of rows that are at most x. A
    curve that stays below 1 has rows without a value, such as failures."""
    ax = _axes(ax)
    for k, name in enumerate(names(frame, by)):
        rows = frame.filter(pl.col(by) == name)
        values = rows[x].drop_nulls().sort().to_list()
        if values:
            shares = [i / len(rows) for i in range(len(values) + 1)]
            ax.step([values[0], *values], shares, where="post", label=f"{name} (n={len(rows)})", linestyle=LINES[k % len(LINES)])
    ax.set(xlabel=xlabel, ylabel=f"share of {what}", ylim=(0, 1.02))
    if log:
        log_scale(ax)
    _legend(ax)
    return ax


def performance_profile(ratios: pl.DataFrame, ax=None):
    """Dolan and Moré's profile: at each factor, the share of instances on which the
    method costs at most that factor times the least cost of the methods shown. All
    are shown on the instances that all ran on; n says how many."""
    return ecdf(profile(ratios), "factor", xlabel="cost / least cost of the methods shown", ax=ax, log=True)


def sweep(frame: pl.DataFrame, x: str, y: str, xlabel: str, ylabel: str, by: str = "method", ax=None, mean: str = "geometric"):
    """The mean of y over the rows with equal x, a line per method, over the instances
    on which all have one, of which n counts all; x may be text such as 10Gbps, which
    is put in order of size."""
    ax = _axes(ax)
    frame = common(frame.filter(pl.col(y).is_not_null()), by)
    order = sorted(names(frame, x), key=natural)
    mid = pl.col(y).log().mean().exp() if mean == "geometric" else pl.col(y).mean()
    for k, name in enumerate(names(frame, by)):
        rows = frame.filter(pl.col(by) == name)
        label, rows = f"{name} (n={len(rows)})", rows.group_by(x).agg(mid.alias(y))
        found = dict(zip(rows[x], rows[y]))
        at = [i for i, v in enumerate(order) if v in found]
        ax.plot(at, [found[order[i]] for i in at], marker="o", label=label, linestyle=LINES[k % len(LINES)])
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_xticks(range(len(order)), [f"{v:g}" if isinstance(v, float) else str(v) for v in order])
    _legend(ax)
    return ax


def scatter(frame: pl.DataFrame, x: str, y: str, xlabel: str, ylabel: str, by: str = "method", ax=None):
    """A point per row, a colour and a marker per method, of which n counts the points."""
    ax = _axes(ax)
    for k, name in enumerate(names(frame, by)):
        rows = frame.filter(pl.col(by) == name).drop_nulls([x, y])
        ax.plot(rows[x], rows[y], "os^Dv*PX"[k % 8], label=f"{name} (n={len(rows)})", alpha=0.8, markersize=5)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    _legend(ax)
    return ax


def stacked(frame: pl.DataFrame, parts: dict[str, str], xlabel: str, by: str = "method", ax=None):
    """A bar per row, from the top, stacked from the columns of `parts`, which names each."""
    labels = frame[by].to_list()
    ax = _axes(ax, (7.0, _tall(len(labels)) + 0.5))
    base = [0.0] * len(labels)
    for column, label in parts.items():
        values = frame[column].fill_null(0).to_list()
        ax.barh(labels, values, left=base, label=label)
        base = [b + v for b, v in zip(base, values)]
    ax.set(ylabel=by.replace("_", " "), xlabel=xlabel)
    ax.invert_yaxis()
    _legend(ax)
    return ax


def bars(frame: pl.DataFrame, x: str, xlabel: str, by: str = "method", ax=None, colour: str | None = None):
    """A bar per row, from the top, with its value written behind it, after `sign` if there is one. Where the largest
    is more than 20 times the smallest the axis is logarithmic, and there are points in place of bars."""
    labels, values = frame[by].to_list(), frame[x].fill_null(0).to_list()
    ax = _axes(ax, (7.0, _tall(len(labels))))
    signs = frame["sign"].to_list() if "sign" in frame.columns else [""] * len(frame)
    texts = [s + (f"{v:,.0f}" if v >= 100 else f"{v:.3g}") for s, v in zip(signs, values)]
    if values and min(values) > 0 and max(values) > 20 * min(values):
        ax.plot(values, labels, "o", color=colour)
        for label, value, text in zip(labels, values, texts):
            ax.annotate(text, (value, label), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8)
        log_scale(ax)
        ax.margins(x=0.15)
    else:
        ax.bar_label(ax.barh(labels, values, color=colour), texts, padding=3, fontsize=8)
        ax.set_xlim(0, 1.12 * max(values, default=1) or 1)
    ax.set(ylabel=by.replace("_", " "), xlabel=xlabel)
    ax.invert_yaxis()
    return ax


def _tall(bars: int) -> float:
    """The height of a figure with that many bars, in inches."""
    return 0.9 + 0.34 * bars


def ratio_bars(frame: pl.DataFrame, by: str = "method", ax=None, key: tuple[str, ...] = INSTANCE):
    """A bar per method: what mean_ratios says of it."""
    means = mean_ratios(frame, by, key)
    n = means["instances"].max() or 0
    ax = bars(means, "ratio", f"cost / {over(with_ratio(frame))},\ngeometric mean (n={n} common instances)", by=by, ax=ax)
    ax.axvline(1, color="grey", linewidth=0.8)
    return ax


def gantt(segments: pl.DataFrame, servers: int = 0, gpus: int = 0, ax=None, longest: float | None = None):
    """Who holds GPUs when: a row per GPU, a colour per job, hatched where it loads
    (//) or saves (xx). The files say how many GPUs of a server a job holds, not
    which: here each takes the lowest rows that are free. Where jobs share GPUs, a
    server has more rows than GPUs. `servers` and `gpus` are the cluster's, to show
    idle ones too; `longest` gives several charts one time axis."""
    rows = segments.filter(pl.col("gpus") > 0).sort("start_s", "job", "segment", "server").to_dicts()
    longest = longest or max((r["end_s"] for r in rows), default=1.0)
    scale, unit = time_unit(longest)
    each = gpus // servers if servers and gpus % servers == 0 else 0
    busy: dict[int, list[float]] = {s: [] for s in range(servers)}
    held: dict[tuple[int, int], list[int]] = {}
    placed = []
    for r in rows:
        lanes = busy.setdefault(r["server"], [])
        # A job keeps its rows from one segment to the next.
        last = [lane for lane in held.get((r["job"], r["server"]), []) if lanes[lane] <= r["start_s"]]
        free = last + [i for i, end in enumerate(lanes) if end <= r["start_s"] and i not in last]
        while len(free) < r["gpus"]:
            lanes.append(0.0)
            free.append(len(lanes) - 1)
        held[r["job"], r["server"]] = taken = free[: r["gpus"]]
        for lane in taken:
            lanes[lane] = r["end_s"]
        placed.append((r, taken))
    first, height = {}, 0
    for server in sorted(busy):
        first[server] = height
        busy[server] += [0.0] * (each - len(busy[server]))
        height += max(len(busy[server]), 1) + 0.6
    ax = _axes(ax, (8.0, max(1.6, 0.9 + 0.26 * height)))
    import matplotlib

    colours = matplotlib.colormaps["tab20"].colors
    for r, lanes in placed:
        for lane in lanes:
            ax.barh(
                first[r["server"]] + lane, (r["end_s"] - r["start_s"]) / scale, left=r["start_s"] / scale, height=0.9,
                color=colours[r["job"] % 20], alpha=1 if r["phase"] == "train" else 0.45,
                hatch={"load": "//", "pause": "xx"}.get(r["phase"]), edgecolor="white", linewidth=0.4,
            )  # fmt: skip
        if (r["end_s"] - r["start_s"]) * 25 > longest:
            ax.text((r["start_s"] + r["end_s"]) / 2 / scale, first[r["server"]] + lanes[0], r["job"], ha="center", va="center", fontsize=8)
    ax.set_yticks([first[s] + (len(busy[s]) - 1) / 2 for s in sorted(busy)], [f"server {s}" for s in sorted(busy)])
    ax.set(xlabel=f"time ({unit})", ylabel="GPUs, by server", xlim=(0, longest / scale), ylim=(height - 0.8, -0.8))
    return ax


def log_scale(ax, which: str = "x") -> None:
    """Make an axis with its data on it logarithmic, with ticks that read 1, 2, 5, 10."""
    from matplotlib import ticker

    ax.set(**{f"{which}scale": "log"})
    axis = {"x": ax.xaxis, "y": ax.yaxis}[which]
    low, high = axis.get_view_interval()
    subs = (1,) if high > 1000 * low else (1, 2, 5) if high > 12 * low else (1, 1.5, 2, 3, 5, 7) if high > 4 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7)
    axis.set_major_locator(ticker.MaxNLocator(6) if high < 1.5 * low else ticker.LogLocator(subs=subs))
    axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def time_unit(seconds: float) -> tuple[float, str]:
    """What to divide times of that size by, and the unit they are then in."""
    for scale, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms")):
        if seconds >= 3 * scale:
            return scale, unit
    return 1e-6, "µs"


def _legend(ax) -> None:
    """A legend below the axes, where it covers nothing."""
    labels = ax.get_legend_handles_labels()[1]
    if labels:
        columns = 1 if max(map(len, labels)) > 28 else 2
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17 * 4 / ax.figure.get_size_inches()[1] * _rows(ax)), ncols=columns, frameon=False)


def _rows(ax) -> int:
    """How many axes the figure has one above the other."""
    spec = ax.get_subplotspec()
    return spec.get_gridspec().nrows if spec else 1
