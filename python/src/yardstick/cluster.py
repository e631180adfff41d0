"""Free GPUs, and the rules that choose among them as bench does.

>>> c = Cluster([8, 8, 4], free=[3, 8, 4])
>>> c.pick("pool", 4), c.pick("best-fit", 4), c.pick("consolidate", 12)
([[0, 3], [1, 1]], [[2, 4]], [[1, 8], [2, 4]])
>>> c.pick("consolidate", 16) is None            # it waits for two empty servers
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Parts = Sequence[Sequence[Any]]
"""Pairs of a server and a number of its GPUs, or in class S the list of these."""

RULES = ("pool", "consolidate", "best-fit", "most-available", "least-available")


class Cluster:
    """Servers and their free GPUs."""

    def __init__(self, servers: Sequence[int], free: Sequence[int] | None = None) -> None:
        self.servers = tuple(servers)
        """GPUs of each server."""
        self.free: list[int] = []
        """Free GPUs of each server."""
        self.idle = 0
        """Free GPUs of all servers."""
        self.reset(servers if free is None else free)

    def reset(self, free: Sequence[int]) -> None:
        """Set the free GPUs of every server."""
        self.free = list(free)
        self.idle = sum(free)

    def take(self, parts: Parts) -> None:
        """Hold GPUs that are free."""
        for server, gpus in parts:
            self.free[server] -= gpus
            self.idle -= gpus

    def pick(self, rule: str, gpus: int) -> list[list[int]] | None:
        """The free GPUs that the rule chooses, servers in ascending order, or None if
        it finds none. All ties go to the lower server. Nothing is held.

        pool: any free GPUs, servers in order. consolidate: as few servers as if all
        were free. best-fit: as few as is possible now. most-available: from the server
        with the most free GPUs on. least-available: from the one with the fewest on."""
        if rule not in RULES:
            raise ValueError(f"the placement rule {rule!r} is unknown: {', '.join(RULES)}")
        if not 1 <= gpus <= self.idle:
            return None
        if rule == "consolidate":
            return self._consolidate(gpus)
        nonempty = [s for s, f in enumerate(self.free) if f]
        if rule == "least-available":
            nonempty.sort(key=lambda s: self.free[s])  # stable: ties stay in order
        elif rule != "pool":
            nonempty.sort(key=lambda s: -self.free[s])
        parts: list[list[int]] = []
        rest = gpus
        for i, server in enumerate(nonempty):
            if rule == "best-fit" and self.free[server] >= rest:  # no server with fewer has been taken
                server = min((s for s in nonempty[i:] if self.free[s] >= rest), key=lambda s: (self.free[s], s))
            taken = min(rest, self.free[server])
            parts.append([server, taken])
            rest -= taken
            if not rest:
                break
        return sorted(parts)

    def _consolidate(self, gpus: int) -> list[list[int]] | None:
        """The largest servers on which everything is free, whole, and one server for
        the rest, the one with the least sufficient number of free GPUs."""
        by_size = sorted(range(len(self.servers)), key=lambda s: -self.servers[s])
        fewest, held = 0, 0
        while held < gpus:
            held += self.servers[by_size[fewest]]
            fewest += 1
        vacant = [s for s in by_size if self.free[s] == self.servers[s] > 0]
        whole = vacant[: fewest - 1]
        if len(whole) < fewest - 1:
            return None
        rest = gpus - sum(self.servers[s] for s in whole)
        last = [s for s, f in enumerate(self.free) if f >= rest and s not in whole]
        if not last:
            return None
        server = min(last, key=lambda s: (self.free[s], s))
        return sorted([[s, self.servers[s]] for s in whole] + [[server, rest]])
