"""Schedulers of GPU clusters in Python, measured against the best possible schedule.

A policy is a class with one method, and `serve` lets bench ask it:

>>> import yardstick
>>> class ShortestFirst(yardstick.Policy):
...     place = "best-fit"
...     def decide(self, view):
...         jobs = sorted(view.waiting, key=lambda job: job.duration)
...         return yardstick.Decision([job for job in jobs if view.take(job)])

`run` and `evaluate` compare it with proven optima, `score` does so with a
schedule that something else made, `yardstick.gym` makes an environment
of Gymnasium of a scheduler, and `yardstick.results` loads what bench wrote into tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cluster import Cluster
from .program import BenchError, find_bench
from .protocol import SECOND, Decision, Hello, Job, Policy, ProtocolError, Start, View, serve
from .schedules import Score, ScoreRow, Violation, score
from .suites import Command, evaluate, instance, run, verify

if TYPE_CHECKING:
    from .results import Result as Result

__all__ = [
    "SECOND", "BenchError", "Cluster", "Command", "Decision", "Hello", "Job", "Policy", "ProtocolError", "Result", "Score", "ScoreRow", "Start",
    "View", "Violation", "evaluate", "find_bench", "instance", "run", "score", "serve", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Result needs polars and pyarrow, which nothing else here does."""
    if name == "Result":
        from .results import Result

        return Result
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
