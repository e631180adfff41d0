"""A scheduler as an environment of Gymnasium. It needs gymnasium: pip install 'yardstick[gym]'.

>>> import tempfile, yardstick
>>> from yardstick.gym import SchedulingEnv
>>> with tempfile.TemporaryDirectory() as folder:
...     instance = yardstick.instance(folder + "/busy.json", "builtin:philly-like", {"slice.jobs": 12, "slice.at": "busiest", "cluster.servers": 1,
...         "cluster.gpusPerServer": 4, "cluster.inter": "10Gbps", "cluster.intra": "300GB/s", "tooLarge": "drop"})
...     env = SchedulingEnv(instance)
...     seen, info = env.reset()
...     total, ended = 0.0, False
...     while not ended:                         # the shortest job that fits, first
...         starts = [i for i in range(env.queue) if info["action_mask"][i]]
...         action = min(starts, key=lambda i: seen["waiting"][i, 1])
...         seen, reward, ended, _, info = env.step(action)
...         total += reward
...     env.close()
>>> round(total + info["cost"], 3)               # rewards add up to minus the verified cost
0.0
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
except ModuleNotFoundError as e:
    raise ModuleNotFoundError(f"yardstick.gym needs gymnasium, and {e.name} is missing: pip install 'yardstick[gym]'", name=e.name) from None

from .program import BenchError, find_bench
from .protocol import SECOND, Decision, Hello, Job, View

Observation = dict[str, Any]

# By what an objective grows in a second in which jobs are in the system: by each of them,
# by its weight, or by one. What it has besides, such as the releases in the sums of
# completion times, is in the last reward.
GROWTH = {"total-jct": "jobs", "total-completion": "jobs", "weighted-completion": "weights", "makespan": "time"}


class SchedulingEnv(gymnasium.Env[Observation, np.int64]):
    """One instance is one episode, replayed by bench.

    Observation: a dictionary with `waiting`, a row for each of the first `queue` waiting
    jobs in order of release, of its GPUs, its predicted duration in seconds, how long it
    has waited in seconds and its weight, zeros where there is none; `free`, the free GPUs
    of each server; and `counts`, how many jobs wait and how many run.

    Action: the row of a job to start on GPUs that the rule `place` chooses, or `queue` to
    wait until something happens. Several jobs may be started at one instant, one after
    the other. What cannot be started is taken as to wait. To wait where nothing runs
    starts the first job that fits, as nothing else might happen any more. The environment
    asks only where some job fits.

    Reward: minus the growth of the objective since the last action, in seconds. The last
    reward makes up the difference to the cost that the verifier found, if there is one, so
    that the rewards of an episode add up to minus that cost. The last info has `cost`, by
    the objective in seconds, and `costs`, exactly by every objective in microseconds.

    Every info has `action_mask`, which `action_masks` returns too: the actions that can be
    carried out. Errors: BenchError if bench refuses the instance."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        instances: str | Path | Sequence[str | Path],
        *,
        queue: int = 16,
        place: str = "pool",
        objective: str = "total-jct",
        predictor: str = "perfect",
        arguments: Sequence[str] = (),
    ) -> None:
        """instances are files, one instance each, on equal numbers of servers: an episode is
        of one of them, drawn by the seed of reset, or reset(options={"instance": INDEX}).
        predictor says what durations are predicted by: perfect, forest, mean or median;
        none leaves them 0. arguments are more flags of bench simulate, such as --gpus of a job list."""
        if objective not in GROWTH:
            raise ValueError(f"the objective {objective!r} does not grow with time: {', '.join(GROWTH)}")
        self.instances = [instances] if isinstance(instances, (str, Path)) else list(instances)
        self.queue, self.place, self.objective = queue, place, objective
        self._arguments = ["-p", f"predictor={predictor}", *arguments]
        self._bench: subprocess.Popen[str] | None = None
        self._costs: dict[str, Fraction] | None = None  # once the episode has ended
        hello = self._open(0)
        self.servers = hello.servers
        gpus, high = max(hello.servers), np.inf
        self.observation_space = spaces.Dict({
            "waiting": spaces.Box(0, high, (queue, 4), np.float32),
            "free": spaces.Box(0, gpus, (len(hello.servers),), np.float32),
            "counts": spaces.Box(0, high, (2,), np.float32),
        })  # fmt: skip
        self.action_space = spaces.Discrete(queue + 1)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        index = (options or {}).get("instance")
        if index is None:
            index = int(self.np_random.integers(len(self.instances)))
        hello = self._open(index)
        if len(hello.servers) != len(self.servers):
            raise ValueError(f"{self.instances[index]} has {len(hello.servers)} servers, {self.instances[0]} {len(self.servers)}: give instances on clusters alike")
        self._grown, self._paid = Fraction(0), Fraction(0)
        self._ask({"hello": {"name": "SchedulingEnv", "class": "N", "place": self.place}})
        self._skip()
        return self._observe(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Start a job, or wait."""
        if self._costs is not None:
            raise RuntimeError("the episode has ended: call reset")
        started = action < self.queue and self._start(int(action))
        if not started:
            if not self._view.running and not self._starting:
                self._start(int(self.action_masks().argmax()))
            self._send()
        self._skip()
        paid, self._paid = self._paid, self._cost() if self._costs is not None else self._grown
        return self._observe(), float(paid - self._paid), self._costs is not None, False, self._info()

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which actions can be carried out now: starts of jobs that fit, and waiting."""
        rows = self._rows()
        fits = [i < len(rows) and self._view.fits(rows[i]) for i in range(self.queue)]
        return np.array([*fits, True])

    def close(self) -> None:
        """End the program that replays the instance."""
        if self._bench is not None:
            self._bench.kill()
            self._bench.communicate()
            self._errors.close()
            self._bench = None

    # What an episode is made of.

    def _rows(self) -> list[Job]:
        """The jobs of the observation."""
        return [] if self._costs is not None else [j for j in self._view.waiting if j.job not in self._view.taken][: self.queue]

    def _start(self, row: int) -> bool:
        rows = self._rows()
        if row >= len(rows) or not self._view.take(rows[row]):
            return False
        self._starting.append(rows[row])
        return True

    def _skip(self) -> None:
        """Go on until there is a choice, or the end."""
        while self._costs is None and not self.action_masks()[:-1].any():
            self._send()

    def _send(self) -> None:
        self._ask(self._view.carry_out(Decision(self._starting)))

    def _ask(self, answer: Mapping[str, Any]) -> None:
        """Answer bench and take in what it asks next."""
        self._say(answer)
        message = self._hear()
        self._starting: list[Job] = []
        if "end" in message:
            self._costs = {k: Fraction(v) for k, v in message["end"]["costs"].items()}
            return
        before, growth = self._view.now, 0.0
        active = [*self._view.running.values(), *self._view.waiting]
        if GROWTH[self.objective] == "time":
            growth = 1 if active else 0
        else:
            growth = sum(j.weight if GROWTH[self.objective] == "weights" else 1 for j in active)
        self._view.hear(message)
        self._grown += Fraction(growth) * (self._view.now - before) / SECOND

    def _cost(self) -> Fraction:
        """The verified cost in seconds."""
        assert self._costs is not None
        return self._costs[self.objective] / SECOND

    def _observe(self) -> Observation:
        waiting = np.zeros((self.queue, 4), np.float32)
        ended = self._costs is not None
        for i, j in enumerate(self._rows()):
            waiting[i] = j.gpus, (j.duration or 0) / SECOND, (self._view.now - j.release) / SECOND, j.weight
        counts = [0, 0] if ended else [len(self._view.waiting) - len(self._starting), len(self._view.running) + len(self._starting)]
        return {"waiting": waiting, "free": np.array(self._view.free, np.float32), "counts": np.array(counts, np.float32)}

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"now": self._view.now / SECOND, "action_mask": self.action_masks()}
        if self._costs is not None:
            info["cost"], info["costs"] = float(self._cost()), dict(self._costs)
        return info

    # Talking to bench, which asks on its standard output.

    def _open(self, index: int) -> Hello:
        self.close()
        command = [find_bench(), "simulate", str(self.instances[index]), "--policy", "stdio", *self._arguments]
        self._errors = tempfile.TemporaryFile("w+")
        self._bench = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=dict(os.environ))
        hello = Hello.read(self._hear()["hello"])
        self._costs = None
        self._view = View(hello, self.place)
        return hello

    def _say(self, answer: Mapping[str, Any]) -> None:
        assert self._bench is not None and self._bench.stdin is not None
        try:
            self._bench.stdin.write(json.dumps(answer, separators=(",", ":")) + "\n")
            self._bench.stdin.flush()
        except BrokenPipeError:
            pass  # why is heard next

    def _hear(self) -> dict[str, Any]:
        assert self._bench is not None and self._bench.stdout is not None
        line = self._bench.stdout.readline()
        message: dict[str, Any] = json.loads(line) if line else {"error": self._last_words()}
        if "error" in message:
            self.close()
            raise BenchError(f"bench simulate: {message['error']}")
        return message

    def _last_words(self) -> str:
        assert self._bench is not None
        self._bench.wait()
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1].removeprefix("bench: ") if lines else f"it ended with {self._bench.returncode} and said nothing"
