"""The protocol yardstick-policy/1: what a policy sees, and what it answers.

bench asks and the policy answers, one line of JSON each; docs/protocol-policy.md
defines every key. `serve` does the talking, so that a policy is a class with one
method:

>>> class Fifo(Policy):
...     def decide(self, view):
...         start = []
...         for job in view.waiting:         # in order of release
...             if not view.take(job):       # holds free GPUs for it
...                 break                    # nobody passes the first that does not fit
...             start.append(job)
...         return Decision(start)

Here it is asked three times, with two GPUs on one server. Times are integers in
microseconds:

>>> answers = dialogue(Fifo, [
...     example_hello(servers=[2]),
...     example_question(now=0, arrived=[example_job(0, gpus=2), example_job(1, gpus=1)], free=[[0, 2]]),
...     example_question(now=5000000, completed=[0], free=[[0, 2]]),
...     {"end": {}}])
>>> for answer in answers:
...     print(answer)
{'hello': {'name': 'Fifo', 'version': '1', 'class': 'N', 'place': 'pool', 'again': True}}
{'start': [[0, [[0, 2]]]]}
{'start': [[1, [[0, 1]]]]}
"""

from __future__ import annotations

import io
import json
import operator
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TextIO, Union

from .cluster import Cluster, Parts

PROTOCOL = "yardstick-policy/1"
SECOND = 1_000_000  # times are in microseconds


class ProtocolError(Exception):
    """The other side said what the protocol does not know."""


# --- What a policy sees ----------------------------------------------------


@dataclass(frozen=True)
class Hello:
    """What holds for the whole run."""

    instance: str
    """An opaque name of the run."""
    model: str
    """The job model: gang, preemptive, sharing or elastic."""
    servers: tuple[int, ...]
    """GPUs of each server."""
    objective: str
    """What the schedule is judged by, such as total-jct."""
    seed: int
    """For the policy's own random numbers."""
    predictor: str
    """What predicts lengths: none, forest, mean, median or perfect."""
    slot: int | None
    """Length of a slot in microseconds; None in continuous time."""
    deadline: int | None
    """That of the objective scheduled-weight."""
    message: Mapping[str, Any] = field(compare=False, repr=False)
    """All that was said: also memory, inter, intra, interference and, in the elastic model, elastic."""

    @classmethod
    def read(cls, message: Mapping[str, Any]) -> Hello:
        if message.get("protocol") != PROTOCOL:
            raise ProtocolError(f"bench speaks {message.get('protocol')}, this package {PROTOCOL}: install the package of the same release")
        return cls(
            message["instance"], message["model"], tuple(message["servers"]), message["objective"], message["seed"],
            message["predictor"], message["slot"], message["deadline"], message,
        )  # fmt: skip


@dataclass(frozen=True)
class Job:
    """What is known about a released job. Times are in microseconds."""

    job: int
    """Its number; jobs are numbered in order of release."""
    gpus: int
    """The GPUs that it needs at once; 0 of an elastic job."""
    weight: float
    """Its weight in weighted objectives."""
    release: int
    """When it was released."""
    user: str | None
    """A pseudonym of its user, of this run."""
    group: str | None
    """A pseudonym of its group, of this run: jobs of a group are runs of the same thing."""
    predicted: int | None
    """Iterations that it is predicted to take; None without a predictor."""
    duration: int | None
    """The time that these take on the GPUs that consolidate chooses in the empty
    cluster, without load; None without a predictor."""
    load: int
    """How long it loads at every start."""
    pause: int
    """How long it saves its state when it is preempted."""
    profile: Mapping[str, Any] | None
    """Its stages and what it may choose, for a policy that wants profiles."""
    elastic: Mapping[str, Any] | None = None
    """What it takes to train it, of an elastic job."""

    @classmethod
    def read(cls, message: Mapping[str, Any]) -> Job:
        m = message
        return cls(
            m["job"], m["gpus"], m["weight"], m["release"], m["user"], m["group"], m["predicted"], m["duration"], m["load"], m["pause"], m.get("profile"), m.get("elastic")
        )  # fmt: skip


class View:
    """What a policy may know at one instant: the past and the present."""

    def __init__(self, hello: Hello, rule: str = "pool") -> None:
        self.hello = hello
        """What holds for the whole run."""
        self.rule = rule
        """The rule by which `take` chooses GPUs."""
        self.now = 0
        """The time in microseconds."""
        self.wake = False
        """Whether a wake-up that the policy asked for is due."""
        self.arrived: list[Job] = []
        """Jobs released since the last question, in order of their numbers."""
        self.completed: list[Job] = []
        """Jobs that ended since the last question."""
        self.paused: list[Job] = []
        """Preempted jobs that left their GPUs since the last question."""
        self.running: dict[int, Job] = {}
        """Jobs that hold GPUs, by their numbers: those that load or pause too."""
        self.cluster = Cluster(hello.servers)
        """Free GPUs by server, less those taken in this decision."""
        self.amounts: list[list[int]] = [[] for _ in hello.servers]
        """In the elastic model, the free amounts of all resources by server."""
        self.placed: dict[int, Parts] = {}
        """Where running jobs are that were taken, or placed by the rule if the policy wants placements."""
        self.progress: dict[int, Fraction] = {}
        """Iterations done, of a policy that wants progress."""
        self.taken: dict[int, Parts] = {}
        """GPUs taken in this decision, by job."""
        self._waiting: dict[int, Job] = {}
        self._free = [0] * len(hello.servers)  # as bench has said

    @property
    def waiting(self) -> list[Job]:
        """Jobs that are released and hold no GPUs, in order of their numbers."""
        return list(self._waiting.values())

    @property
    def free(self) -> list[int]:
        """Free GPUs of each server, less those taken in this decision."""
        return self.cluster.free

    @property
    def idle(self) -> int:
        """Free GPUs of all servers, less those taken in this decision."""
        return self.cluster.idle

    def fits(self, job: Job, rule: str | None = None) -> bool:
        """Whether the rule finds free GPUs for the job."""
        return self.cluster.pick(rule or self.rule, job.gpus) is not None

    def take(self, job: Job, rule: str | None = None) -> bool:
        """Hold the free GPUs that the rule chooses for the job until the decision is
        made, so that later calls find others; False, and nothing held, if it finds
        none. A start of the job is then on these GPUs.

        The rules are those of bench: docs/policies.md. They take jobs whose replicas
        have one GPU each: leave others to the rule of the policy's `place`."""
        if job.elastic:
            raise ValueError(f"job {job.job} is elastic, and no rule places its containers: give Start its parts")
        parts = self.cluster.pick(rule or self.rule, job.gpus)
        if parts is None:
            return False
        self.cluster.take(parts)
        self.taken[job.job] = parts
        return True

    # What follows is for those who talk to bench.

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take in a question."""
        self.now, self.wake = message["now"], message["wake"]
        self.arrived = [Job.read(j) for j in message["arrived"]]
        self.completed = [self._stop(j) for j in message["completed"]]
        self.paused = [self._stop(j) for j in message["paused"]]
        self._waiting.update((j.job, j) for j in self.arrived)
        if self.paused:
            self._waiting.update((j.job, j) for j in self.paused)
            self._waiting = dict(sorted(self._waiting.items()))
        for server, free in message["free"]:
            if isinstance(free, list):
                self.amounts[server] = free
            else:
                self._free[server] = free
        self.cluster.reset(self._free)
        self.taken = {}
        for number, parts in message.get("placed") or ():
            self.placed[number] = parts
        for number, iterations in message.get("progress") or ():
            self.progress[number] = Fraction(iterations)

    def _stop(self, number: int) -> Job:
        self.placed.pop(number, None)
        try:
            return self.running.pop(number)
        except KeyError:
            raise ProtocolError(f"bench says that job {number} left its GPUs, which does not hold any") from None

    def carry_out(self, decision: Decision) -> dict[str, Any]:
        """Note what the decision starts, and return the answer that says it."""
        starts = [s if isinstance(s, Start) else Start(s) for s in decision.start]
        answer: dict[str, Any] = {}
        if starts:
            answer["start"] = [s.message(self.taken) for s in starts]
        if decision.preempt:
            answer["preempt"] = [_number(j) for j in decision.preempt]
        if decision.wake is not None:
            answer["wake"] = operator.index(decision.wake)
        for s in starts:
            number = _number(s.job)
            job = self._waiting.pop(number, None)
            if job is None:
                raise ValueError(f"the decision starts job {number}, which does not wait")
            self.running[number] = job
            parts = s.parts if s.parts is not None else self.taken.get(number)
            if parts is not None:
                self.placed[number] = parts
        return answer


# --- What it answers -------------------------------------------------------


def _number(job: Job | int) -> int:
    return job.job if isinstance(job, Job) else operator.index(job)


@dataclass(frozen=True)
class Start:
    """A start of a job, with what the policy chooses besides its GPUs."""

    job: Job | int
    parts: Parts | None = None
    """Pairs of a server and a number of its GPUs, or in class S the list of these, or of
    an elastic job the list of its workers and its parameter servers there; None leaves them to `View.take`, or else to the rule of the policy's `place`."""
    accumulation: int | None = None
    """Gradient accumulation steps, in the sharing model."""
    size: int | None = None
    """In class M, the number of GPUs where there are no parts."""
    stages: Sequence[Sequence[int]] | None = None
    """For every part, the replicas of each stage on that server."""
    types: tuple[int, int] | None = None
    """Of an elastic job, the types of its workers and of its parameter servers."""

    def message(self, taken: Mapping[int, Parts]) -> list[Any]:
        number = _number(self.job)
        parts = self.parts if self.parts is not None else taken.get(number)
        more = {"accumulation": self.accumulation, "size": self.size, "stages": self.stages, "types": self.types}
        more = {k: v for k, v in more.items() if v is not None}
        if more:
            return [number, parts, more]
        return [number] if parts is None else [number, parts]


@dataclass(frozen=True)
class Decision:
    """What a policy wants done now. `Decision()` waits.

    >>> Decision(start=[4, Start(9, parts=[[0, 2], [2, 2]])], wake=180 * SECOND).wake
    180000000
    """

    start: Sequence[Job | int | Start] = ()
    """Jobs to start, in this order."""
    preempt: Sequence[Job | int] = ()
    """Jobs to take off their GPUs before the starts, in classes P, M and EP."""
    wake: int | None = None
    """Ask again at this time, after now, if nothing happens before. It replaces any earlier one."""


class Policy:
    """A scheduler: a subclass has `decide`. A value serves one instance."""

    name: str = ""
    """For messages; the name of the class if it is empty."""
    version: str = "1"
    """For messages."""
    execution_class: str = "N"
    """N (not preemptive), P (preemptive), S (shares GPUs), M (malleable), E (elastic) or
    EP (elastic and preemptive): a promise that the verifier holds every schedule to."""
    place: str = "pool"
    """The rule that chooses GPUs, for `View.take` and for starts without parts: pool,
    consolidate, best-fit, most-available or least-available."""
    wants: Sequence[str] = ()
    """What to be told besides: profiles, placements, progress."""
    again: bool = True
    """Whether a process that serves the class may serve one instance after another, a new value of the class
    for each: a hunt looks at many times as many instances then. False if anything but these values remembers."""

    def begin(self, hello: Hello) -> None:
        """Called once, before any question."""

    def decide(self, view: View) -> Decision:
        """Called whenever something happened: say what to start now."""
        raise NotImplementedError(f"{type(self).__name__} has no method decide(self, view)")


Decide = Callable[[View], Decision]
PolicyLike = Union[type[Policy], Policy, Decide]


class _Function(Policy):
    """A policy that is a function."""

    def __init__(self, decide: Decide) -> None:
        self.name = getattr(decide, "__name__", "policy")[:64]
        self.again = getattr(decide, "again", False)  # what a function remembers, it remembers elsewhere
        self._decide = decide

    def decide(self, view: View) -> Decision:
        return self._decide(view)


def as_policy(policy: PolicyLike) -> Policy:
    """A policy for one instance, of a class, of a function `decide(view)`, or itself."""
    if isinstance(policy, type):
        if not issubclass(policy, Policy):
            raise TypeError(f"{policy.__name__} is no policy: derive it from yardstick.Policy")
        return policy()
    if isinstance(policy, Policy):
        return policy
    if callable(policy):
        return _Function(policy)
    raise TypeError(f"{policy!r} is no policy: give a class derived from yardstick.Policy, or a function decide(view)")


# --- Talking ---------------------------------------------------------------


class Session:
    """A policy on one instance after another: messages in, answers out."""

    def __init__(self, policy: PolicyLike) -> None:
        self.made_of = policy
        self.policy = as_policy(policy)
        self.view: View | None = None

    @property
    def again(self) -> bool:
        """Whether another instance may follow."""
        return self.policy.again and not isinstance(self.made_of, Policy)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a message of bench, None to its last."""
        if "hello" in message:
            hello = Hello.read(message["hello"])
            if self.view is not None:
                self.policy = as_policy(self.made_of)
            self.view = View(hello, self.policy.place)
            self.policy.begin(hello)
            return {"hello": self._introduction()}
        if "end" in message or "error" in message:
            return None
        if self.view is None or "now" not in message:
            raise ProtocolError(f"bench said {json.dumps(message)[:80]} where a question was due: install the package of the same release")
        self.view.hear(message)
        decision = self.policy.decide(self.view)
        if not isinstance(decision, Decision):
            raise TypeError(f"decide returned {decision!r:.60}: it must return a yardstick.Decision")
        return self.view.carry_out(decision)

    def hint(self, e: Exception) -> str:
        """What may help against an error of the policy."""
        if isinstance(e, TypeError) and "NoneType" in str(e) and self.view is not None and self.view.hello.predictor == "none":
            return ": lengths are None without a predictor: give one, as in -p predictor=forest (predictor: forest in a suite)"
        return ""

    def _introduction(self) -> dict[str, Any]:
        p = self.policy
        said: dict[str, Any] = {"name": (p.name or type(p).__name__)[:64], "version": str(p.version), "class": p.execution_class, "place": p.place}
        if p.wants:
            said["wants"] = list(p.wants)
        if self.again:
            said["again"] = True
        return said


def serve(policy: PolicyLike, questions: TextIO | None = None, answers: TextIO | None = None) -> None:
    """Answer bench on standard input and output until it says that the instance ends or, of
    a policy that can serve another one, until it says no more.

    What the policy prints goes to standard error. If it fails, the run fails with the
    error, and the traceback is on standard error."""
    out = answers or sys.stdout
    printed, sys.stdout = sys.stdout, sys.stderr  # a line that is no answer would end the run
    try:
        session = Session(policy)
        for line in questions or sys.stdin:
            try:
                answer = session.answer(json.loads(line))
            except Exception as e:
                traceback.print_exc()
                out.write(json.dumps({"error": _said(e) + session.hint(e)}) + "\n")
                out.flush()
                raise SystemExit(1) from None
            if answer is None:
                if session.again:
                    continue
                return
            out.write(json.dumps(answer, separators=(",", ":"), allow_nan=False) + "\n")
            out.flush()
    finally:
        sys.stdout = printed


def _said(e: Exception) -> str:
    """An error in one line, with the place in the policy."""
    frames = traceback.extract_tb(e.__traceback__)
    own = [f for f in frames if f.filename != __file__]
    where = f" ({own[-1].filename.rpartition('/')[2]} line {own[-1].lineno})" if own else ""
    return f"{type(e).__name__}: {' '.join(str(e).split())}{where}"


# --- For tests and examples ------------------------------------------------


def dialogue(policy: PolicyLike, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers of a policy to the messages, as bench would hear them. For tests of policies."""
    asked = io.StringIO("".join(json.dumps(m) + "\n" for m in messages))
    answered = io.StringIO()
    serve(policy, asked, answered)
    return [json.loads(line) for line in answered.getvalue().splitlines()]


def example_hello(**changes: Any) -> dict[str, Any]:
    """A hello of bench, for tests of policies."""
    hello = {
        "protocol": PROTOCOL, "instance": "example", "model": "gang", "servers": [8], "memory": None, "inter": 1_250_000_000,
        "intra": 300_000_000_000, "interference": None, "slot": None, "deadline": None, "objective": "total-jct", "seed": 1, "predictor": "perfect",
    }  # fmt: skip
    return {"hello": {**hello, **changes}}


def example_question(**changes: Any) -> dict[str, Any]:
    """A question of bench at time 0 at which nothing has happened, with changes. For tests of policies."""
    return {"now": 0, "arrived": [], "completed": [], "paused": [], "free": [], "wake": False, **changes}


def example_job(job: int, **changes: Any) -> dict[str, Any]:
    """A job of one GPU and one second as bench says it, with changes. For tests of policies."""
    said = {"job": job, "gpus": 1, "weight": 1, "user": "u1", "group": None, "release": 0, "predicted": 1, "duration": SECOND, "load": 0, "pause": 0}
    return {**said, **changes}
