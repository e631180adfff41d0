"""How far a schedule that something else made is from the best possible one: what
`bench score` does. docs/schedules.md has the columns, the formats and what is proven."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Union

from .program import BenchError, bench_said, call

Table = Union[str, Path, Sequence[Mapping[str, Any]]]
"""A file, or its rows."""


@dataclass(frozen=True)
class Violation:
    """A rule that the schedule breaks."""

    rule: str
    job: str
    time: float
    """When, in seconds, by the clock of the files."""
    detail: str


@dataclass(frozen=True)
class ScoreRow:
    """One bound of one objective. Times are in microseconds, exactly."""

    objective: str
    cost: Fraction
    """What the schedule costs."""
    bound: Fraction
    """What every schedule of the bound's class costs at least."""
    bound_by: str
    """The bound's name."""
    bound_class: str
    """The execution class that it is proven for."""
    certified: bool
    """Whether its certificate was checked in exact arithmetic."""

    @property
    def ratio(self) -> float | None:
        """cost / bound; None if the bound is 0."""
        return float(self.cost / self.bound) if self.bound else None


@dataclass(frozen=True)
class Score:
    """What `score` found. A schedule with violations has no class, costs and ratios."""

    violations: tuple[Violation, ...]
    """The rules that it breaks."""
    rows: tuple[ScoreRow, ...] = ()
    """The best bound for each objective, in their order; all bounds with every_bound."""
    evidence: str = ""
    """How much was recorded and checked: completions, intervals or placements."""
    execution_class: str = ""
    """The class of the schedule, such as N."""
    jobs: int = 0
    """How many jobs were scored."""
    left_out: str = ""
    """How many were left out, and why."""
    notes: str = ""
    """What was assumed."""

    @property
    def valid(self) -> bool:
        """Whether it is a schedule of these jobs on this cluster, as far as was recorded."""
        return not self.violations

    @property
    def ratio(self) -> float | None:
        """How many times the least possible cost the schedule costs at most, by the first
        objective; None if it is not valid."""
        return self.rows[0].ratio if self.rows else None


def score(
    jobs: Table | None,
    schedule: Table,
    *,
    gpus: int | str | None = None,
    servers: int | None = None,
    gpus_per_server: int | None = None,
    objective: str | Sequence[str] = "total-jct",
    format: str = "table",
    jobs_format: str = "table",
    columns: Mapping[str, str] | None = None,
    jobs_columns: Mapping[str, str] | None = None,
    evidence: str = "",
    lengths: str = "",
    tolerance: float = 0,
    ignore: Sequence[str] = (),
    capacity: str | Path | None = None,
    zone: str = "UTC",
    delimiter: str = "",
    every_bound: bool = False,
) -> Score:
    """Check a schedule that another simulator or a real cluster made, as far as it was
    recorded, and divide its cost by the best bound that is proven for its class.

    jobs is a list of jobs (a file, or rows with job, submit, gpus and duration, in seconds),
    or the file of an instance; None takes submit times, GPUs and lengths from the schedule.
    schedule is a file, or rows with job, end, and start or place where they are known. The
    cluster is gpus (a number, or "from-log" for the most in use at once), or servers with
    gpus_per_server; an instance has its own. columns and jobs_columns say which column is which,
    such as {"end": "finished_at:ms"}; format and jobs_format what other systems write, such as
    "sacct". tolerance is in seconds. docs/schedules.md has all of it under the flags' names.

    Errors: BenchError if the files cannot be read or asked for this; a schedule that breaks a
    rule has violations instead.

    >>> jobs = [{"job": "a", "submit": 0, "gpus": 2, "duration": 10}, {"job": "b", "submit": 0, "gpus": 2, "duration": 4}]
    >>> result = score(jobs, [{"job": "a", "start": 0, "end": 10}, {"job": "b", "start": 10, "end": 14}], gpus=2)
    >>> result.valid, result.evidence, result.execution_class, round(result.ratio, 3)
    (True, 'intervals', 'N', 1.333)
    >>> result = score(jobs, [{"job": "a", "start": 0, "end": 10}, {"job": "b", "start": 0, "end": 4}], gpus=2)
    >>> result.ratio, result.violations[0].rule
    (None, 'capacity')
    """
    objectives = [objective] if isinstance(objective, str) else list(objective)
    flags: list[str] = ["--report", "json", "--objective", ",".join(objectives), "--format", format, "--jobs-format", jobs_format, "--zone", zone]
    flags += [f for field, column in (columns or {}).items() for f in ("--map", f"{field}={column}")]
    flags += [f for field, column in (jobs_columns or {}).items() for f in ("--jobs-map", f"{field}={column}")]
    given = {"gpus": gpus, "servers": servers, "gpus-per-server": gpus_per_server, "evidence": evidence, "lengths": lengths,
             "ignore": ",".join(ignore), "capacity": capacity, "delimiter": delimiter, "tolerance": f"{round(tolerance * 1e6)}us" if tolerance else ""}  # fmt: skip
    flags += [f"--{name}={value}" for name, value in given.items() if value not in (None, "")]
    if every_bound:
        flags.append("--all")
    with tempfile.TemporaryDirectory(prefix="yardstick-") as folder:
        files = [_file(t, Path(folder, name)) for t, name in ((jobs, "jobs.json"), (schedule, "schedule.json")) if t is not None]
        done = call(["score", *files, *flags], accept=(0, 5))
    if not done.stdout.strip():
        raise BenchError(bench_said(["score"], done))
    rows = json.loads(done.stdout)
    if done.returncode:
        return Score(tuple(Violation(r["rule"], r["job"], float(r["time_s"]), r["detail"]) for r in rows))
    if not rows:
        raise BenchError(f"bench score: no bound is known for {', '.join(objectives)}")
    first = rows[0]
    return Score((), tuple(
        ScoreRow(r["objective"], Fraction(r["cost_exact"]), Fraction(r["bound_exact"]), r["by"], r["class_of_bound"], r["certified"] == "yes") for r in rows
    ), first["evidence"], first["class"], int(first["jobs"]), first["left_out"], first["notes"])  # fmt: skip


def _file(table: Table, path: Path) -> str:
    """The path of a table, whose rows are written there if there is none."""
    if isinstance(table, (str, Path)):
        return os.path.abspath(table)
    path.write_text(json.dumps([dict(row) for row in table]))
    return str(path)
