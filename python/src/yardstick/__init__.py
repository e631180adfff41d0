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

import importlib
from typing import TYPE_CHECKING, Any

from .cluster import Cluster
from .protocol import SECOND, Decision, Hello, Job, Policy, ProtocolError, Start, View, serve

if TYPE_CHECKING:
    from .program import BenchError, find_bench
    from .results import Result as Result
    from .schedules import Score, ScoreRow, Violation, score
    from .suites import Command, evaluate, instance, run, verify

__all__ = [
    "SECOND", "BenchError", "Cluster", "Command", "Decision", "Hello", "Job", "Policy", "ProtocolError", "Result", "Score", "ScoreRow", "Start",
    "View", "Violation", "evaluate", "find_bench", "instance", "run", "score", "serve", "verify",
]  # fmt: skip


_LATER = {
    "BenchError": "program", "find_bench": "program", "Result": "results", "Score": "schedules", "ScoreRow": "schedules", "Violation": "schedules",
    "score": "schedules", "Command": "suites", "evaluate": "suites", "instance": "suites", "run": "suites", "verify": "suites",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What runs bench is imported when it is asked for: the process of a policy starts in half the
    time without it. Result needs polars and pyarrow besides, which nothing else here does."""
    if name in _LATER:
        return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
