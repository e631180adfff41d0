"""The program bench: where it is, and calling it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence


class BenchError(Exception):
    """bench was not found, or refused what it was asked; it says why in one line."""


def find_bench() -> str:
    """The path of bench: what $YARDSTICK_BENCH names, else the bench on PATH, else the one that
    was installed with the package, beside python.

    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, YARDSTICK_BENCH="/nowhere/bench"):
    ...     find_bench()
    Traceback (most recent call last):
    ...
    yardstick.program.BenchError: $YARDSTICK_BENCH names /nowhere/bench, which is no program that can be run: correct it or unset it
    """
    named = os.environ.get("YARDSTICK_BENCH")
    if named:
        found = shutil.which(named)
        if not found:
            raise BenchError(f"$YARDSTICK_BENCH names {named}, which is no program that can be run: correct it or unset it")
        return os.path.abspath(found)
    found = shutil.which("bench") or shutil.which("bench", path=sysconfig.get_path("scripts"))
    if not found:
        raise BenchError(
            "the program bench is neither named by $YARDSTICK_BENCH nor on PATH, nor installed with this package: build it with `go build -o bin/bench ./cmd/bench` "
            "in Yardstick's folder, and set YARDSTICK_BENCH to bin/bench there"
        )
    return os.path.abspath(found)


def call(arguments: Sequence[str], accept: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Run bench and return what it printed. Errors: BenchError with its last line of
    standard error, unless its exit code is one that the caller accepts."""
    done = subprocess.run([find_bench(), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in accept:
        raise BenchError(bench_said(arguments[:2], done))
    return done


def bench_said(command: Sequence[str], done: subprocess.CompletedProcess[str]) -> str:
    """Why a run of bench failed: its last line of standard error."""
    lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode} and said nothing"]
    return f"bench {' '.join(command)}: {lines[-1].removeprefix('bench: ')}"
