"""Running suites: policies against proven optima and bounds.

A policy is named in one of these ways:

- a name of bench, such as "fifo" or "sjf(blocking=skip)"; docs/policies.md has them;
- a class derived from `Policy`, or a function `decide(view)`, that the file mine.py
  defines: it is called mine.NAME in tables;
- the path of a Python file with one of these, or of a program that speaks the protocol;
  it is called as the file, such as mine.py;
- a `Command`, for anything else.

Those that are not bench's own run in processes of their own, on copies of their files.
"""

from __future__ import annotations

import atexit
import inspect
import io
import json
import math
import os
import re
import secrets
import shlex
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from .program import BenchError, call
from .protocol import Decide, Policy

if TYPE_CHECKING:
    from .results import Result

ARCHIVE = "yardstick.pyz"  # this package, as the processes of policies have it


@dataclass(frozen=True)
class Command:
    """A policy that is a program.

    >>> Command("node fifo.js", files=["examples/fifo.js"]).name
    'fifo.js'
    """

    command: str
    """What starts it, in a folder with copies of the files, and of those that its words name."""
    files: Sequence[str | Path] = ()
    """What it needs there besides."""
    label: str = ""
    """Its name in tables; if it is empty, that of the last file, or of the first that its words name, or of the program."""
    params: dict[str, str] = field(default_factory=dict)
    """More parameters of bench's method external, such as predictor."""

    @property
    def name(self) -> str:
        words = shlex.split(self.command)
        named = [word for word in words[1:] if os.path.isfile(word)]
        name = self.label or Path([*named, *words][0] if not self.files else self.files[-1]).name
        return re.sub(r"[^A-Za-z0-9_.-]", "-", name)


EXAMPLE = """\
apiVersion: yardstick/v1
name: example
instances:
  - name: busy
    slice: {jobs: 5, at: busiest, repeat: 2}
    cluster: {servers: 1, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
objectives: [total-jct]
methods: [fifo]
references: [exhaustive]
"""
"""A suite of two small instances, to try things with."""

AnyPolicy = Union[str, Path, Command, type[Policy], Policy, Decide]


def run(
    suite: str | Path | None = None,
    policies: Sequence[AnyPolicy] | None = None,
    *,
    predictor: str = "none",
    out: str | Path | None = None,
    settings: Sequence[str] = (),
    workers: int | None = None,
) -> Result:
    """Run a suite and return its tables: what `bench run` does.

    suite is a suite file; None is the embedded suite. policies take the place of the
    suite's methods; its references, which prove optima and bounds, stay. predictor is what
    tells those that are not bench's own how long jobs will take: none, forest, mean, median,
    or perfect, which tells the truth and marks their rows as clairvoyant. out is the
    result directory, `results/NAME` by default; what is finished there is not run again.
    settings change keys of the suite, such as "slice.jobs=8".

    Rows of policies that failed have no cost, and their message says why. Errors:
    BenchError if the suite is refused, or a schedule is invalid."""
    from .results import load  # first: where polars is missing, nothing is to be run

    out = Path("results", _name(suite)) if out is None else Path(out)
    arguments = _asked(suite, settings, workers)
    if policies is not None:
        arguments += ["--set", "methods=" + ",".join(_references(policies, predictor, out / "policies"))]
    call(["run", *arguments, "-q", "-o", str(out)], accept=(0, 3))
    return load(out)


def instance(path: str | Path, trace: str, keys: Mapping[str, object], seed: int = 1) -> Path:
    """Build an instance out of a trace and write it to a JSON file: what `bench instance
    build` does. keys are those of an entry of a suite's instances, such as slice.jobs."""
    settings = [a for key, value in keys.items() for a in ("-s", f"{key}={value}")]
    call(["instance", "build", trace, *settings, "--seed", str(seed), "-o", str(path)])
    return Path(path)


def verify(*paths: str | Path) -> str:
    """Check a result directory, or a schedule or certificate of an instance, with
    bench's independent checker, and return what it says.

    Errors: BenchError, with all that does not hold."""
    done = call(["verify", *(str(p) for p in paths)], accept=(0, 5))
    if done.returncode:
        raise BenchError("; ".join((done.stdout + done.stderr).strip().splitlines()))
    return done.stdout


def evaluate(
    candidate: AnyPolicy,
    suite: str | Path,
    *,
    fresh: bool = False,
    predictor: str = "none",
    settings: Sequence[str] = (),
    timeout: float | None = None,
    workers: int | None = None,
) -> dict[str, Any]:
    """How good a policy is on a suite, as a program search asks: a dictionary with

    - valid: whether it has a verified schedule of every instance, and nothing failed;
    - ratio: the geometric mean of its costs over the proven optima, or over lower bounds
      where an optimum is not known, so that it is never too small; None if not valid;
    - combined_score: 1 / ratio, so that 1 is optimal and more is better; 0 if not valid;
    - rows: a dictionary per instance and objective, with class, cost, denominator
      ("optimum" or "lower bound"), denominator_value, ratio, termination and message;
    - fresh: whether the instances were drawn for this call: if not, a candidate may know
      their lengths by heart;
    - error: why it is not valid, in one line; only then.

    The candidate runs in another process. What it says about itself is not believed: costs
    are of schedules that the verifier accepted. With fresh, the instances are drawn with a
    seed that nobody has seen before, so that nothing can be known by heart; refused if some
    instance of the suite is the same under every seed. predictor is as for `run`; timeout
    limits a cell, those of the references too, in seconds.

    Optima and bounds are computed once per process and suite. Errors: BenchError if bench
    refuses the suite; a candidate that fails is not valid instead.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     suite = Path(folder, "suite.yaml")
    ...     _ = suite.write_text(EXAMPLE)
    ...     result = evaluate("sjf", suite)
    >>> result["valid"], len(result["rows"]), result["rows"][0]["denominator"]
    (True, 2, 'optimum')
    """
    with tempfile.TemporaryDirectory(prefix="yardstick-") as name:
        scratch = Path(name)
        out = scratch / "result"
        if timeout is not None:
            settings = [*settings, f"limits.cell={max(1, round(timeout * 1000))}ms"]
        arguments = _asked(suite, settings, workers)
        if fresh:
            arguments = _fresh(suite, arguments, scratch)
        else:
            _references_first(arguments, suite, out)
        methods = ",".join(_references([candidate], predictor, scratch))
        done = call(["run", *arguments, "--set", f"methods={methods}", "-q", "-o", str(out)], accept=(0, 3, 5))
        report = json.loads(call(["report", str(out), "--format", "json"]).stdout)
    return _score(report, done.returncode, done.stderr, fresh)


def _asked(suite: str | Path | None, settings: Sequence[str], workers: int | None) -> list[str]:
    """Arguments of bench run: the suite first, if there is one."""
    asked = [str(suite)] if suite else []
    for setting in settings:
        asked += ["--set", setting]
    return [*asked, f"-j{workers}"] if workers else asked


# --- What evaluate is made of ----------------------------------------------


def _score(report: dict[str, Any], code: int, said: str, fresh: bool = False) -> dict[str, Any]:
    """The dictionary of a report in which the candidate is the one policy."""
    rows = []
    for group in report["groups"]:
        online = {m["method"] for m in group["methods"] if m["kind"] == "online"}
        for row in group["details"]:
            if row["method"] in online:
                keys = ("instance", "class", "cost", "denominator", "denominator_value", "ratio", "termination", "message")
                rows.append({"family": group["family"], "objective": group["objective"], **{k: row.get(k) for k in keys}})
    lost = [r for r in rows if not r["ratio"]]
    if code == 5:
        error = said.strip().splitlines()[-1]
    elif not rows:
        error = "the suite has no instance"
    elif lost:
        why = lost[0]["message"] if lost[0]["cost"] is None else "no optimum or bound is known to compare it with: add references to the suite"
        error = f"{lost[0]['instance']}: {why}"
    else:
        ratio = math.exp(math.fsum(math.log(r["ratio"]) for r in rows) / len(rows))
        return {"valid": True, "ratio": ratio, "combined_score": 1 / ratio, "fresh": fresh, "rows": rows}
    return {"valid": False, "ratio": None, "combined_score": 0.0, "fresh": fresh, "rows": rows, "error": error}


_proven: dict[tuple[str, ...], str] = {}  # result directories of this process
_proving = threading.Lock()


def _references_first(arguments: Sequence[str], suite: str | Path, out: Path) -> None:
    """Leave in the result directory what an earlier call proved about the same suite."""
    key = (os.getcwd(), Path(suite).read_text(), *arguments)
    with _proving:
        if key not in _proven:
            folder = tempfile.mkdtemp(prefix="yardstick-proven-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            call(["run", *arguments, "--set", "methods=lb0", "-q", "-o", folder], accept=(0, 3))
            _proven[key] = folder
    shutil.copytree(Path(_proven[key], "cells"), out / "cells")


GENERATED = re.compile(r"builtin:[a-z0-9-]+\?[^\s,}\"'#]*")  # a trace that is made on the spot


def _fresh(suite: str | Path, arguments: list[str], scratch: Path) -> list[str]:
    """What to run in place of the suite: the same with a seed that nobody knows, for
    slices and for traces that are made on the spot."""
    seed = secrets.randbelow(2**52)
    drawn = scratch / "suite.yaml"
    drawn.write_text(GENERATED.sub(lambda m: reseeded(m[0], seed), Path(suite).read_text()))
    fresh = [str(drawn), *arguments[1:], "--set", f"seed={seed}", "--set", "fresh=true"]
    known = _instances(arguments).values()
    for name, digest in _instances(fresh).items():
        if digest in known:
            raise BenchError(
                f"the suite's instance {name} is the same under every seed, so that it is not fresh: draw its slices at random "
                "(slice: {at: random}), or from a trace that is made on the spot (trace: builtin:philly?jobs=20000)"
            )
    return fresh


def reseeded(trace: str, seed: int) -> str:
    """The name of a generated trace, with another seed.

    >>> reseeded("builtin:philly?seed=1&jobs=20000", 7)
    'builtin:philly?jobs=20000&seed=7'
    """
    name, _, query = trace.partition("?")
    kept = [pair for pair in query.split("&") if pair and not pair.startswith("seed=")]
    return name + "?" + "&".join([*kept, f"seed={seed}"])


def _instances(arguments: Sequence[str]) -> dict[str, str]:
    """The hashes of the instances that a suite makes, by their names."""
    listed = call(["plan", *(a for a in arguments if not a.startswith("-j")), "--format", "jsonl"]).stdout
    cells = [json.loads(line) for line in listed.splitlines()]
    return {c["instance"]: c["instance_sha256"] for c in cells}


# --- Policies as bench knows them ------------------------------------------


def _references(policies: Iterable[AnyPolicy], predictor: str, folder: Path) -> Iterator[str]:
    """The policies as suites write them; files that they need are made in the folder."""
    archive = folder / ARCHIVE
    for policy in policies:
        if isinstance(policy, str) and not os.path.exists(policy):
            yield json.dumps(named(policy))
            continue
        if not archive.exists():
            write_archive(archive)
        c = as_command(policy, archive)
        for word in (c.command, *(str(Path(f).absolute()) for f in c.files)):
            if set(word) & set(",()[]{}"):
                raise BenchError(f"the policy's command or file {word} has a comma or a bracket, which lists of bench cannot hold: rename it")
        params = {"command": c.command, "predictor": predictor, **c.params}
        if c.files:
            params["files"] = ",".join(str(Path(f).absolute()) for f in c.files)
        yield json.dumps({"name": "external", "params": params, "as": c.name})


def named(policy: str) -> dict[str, Any]:
    """A policy of bench's own, as suites write it.

    >>> named("sjf(blocking=skip,placement=best-fit)")
    {'name': 'sjf', 'params': {'blocking': 'skip', 'placement': 'best-fit'}}
    """
    found = re.fullmatch(r"([a-z0-9-]+)(?:\((.*)\))?", policy)
    if not found:
        raise FileNotFoundError(f"the policy {policy!r} is neither a file nor a name of bench: these are written name or name(key=value,key=value)")
    params = dict(pair.split("=", 1) for pair in (found[2] or "").split(",") if "=" in pair)
    return {"name": found[1], "params": params} if params else {"name": found[1]}


def as_command(policy: AnyPolicy, archive: Path) -> Command:
    """The program that serves a policy, with this package in an archive beside it."""
    if isinstance(policy, Command):
        return policy
    if isinstance(policy, (str, Path)):
        path = Path(policy)
        if not path.exists():
            raise FileNotFoundError(f"there is no policy {path}")
        if path.suffix == ".py":
            return _served(path, "", archive, path.name)
        if not os.access(path, os.X_OK):
            raise BenchError(f"{path} is no Python file, and cannot be run: give a yardstick.Command that says how it is started")
        return Command(f"./{path.name}", [path])
    kind = policy if inspect.isclass(policy) or inspect.isfunction(policy) else type(policy)
    name = getattr(kind, "__qualname__", "")
    try:
        source = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        source = None
    if not source or not os.path.exists(source) or "." in name or name == "<lambda>":
        raise BenchError(f"{name or policy!r} is not defined at the top of a file, and runs in another process: put it into a file and give its path")
    return _served(Path(source), name, archive, f"{Path(source).stem}.{name}")


def _served(path: Path, name: str, archive: Path, label: str) -> Command:
    command = shlex.join([sys.executable, ARCHIVE, path.name, *([name] if name else [])])
    return Command(command, [archive, path], label)


def write_archive(path: Path) -> None:
    """Write this package as a file that Python runs: the same bytes each time, so that a
    policy that has not changed is the same cell."""
    here = Path(__file__).parent
    members = {f"yardstick/{f.name}": f.read_bytes() for f in sorted(here.glob("*.py"))}
    members["__main__.py"] = (here / "__main__.py").read_bytes()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as z:
        for name, text in members.items():
            z.writestr(zipfile.ZipInfo(name), text)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.getvalue())


def _name(suite: str | Path | None) -> str:
    """The name that a suite gives itself."""
    if suite is None:
        return "quick"
    found = re.search(r"^name: *[\"']?([^\s\"'#]+)", Path(suite).read_text(), re.M)
    return found[1] if found else Path(suite).stem


