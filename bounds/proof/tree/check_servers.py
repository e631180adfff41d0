#!/usr/bin/env python3
"""Checks a proof that no schedule on servers costs less than some value.

    python3 check_servers.py instance.txt optimum.cert

As check_tree.py, which must lie beside it, and of which it uses the reader and the prices,
for jobs whose running time depends on where they run. It is a program of its own, so that
whoever checks jobs on one pool need not read it.

The problem. Job j holds the parts of one of its patterns, without a break, for as long as
that pattern says. A part is a number of GPUs on a server of a given size, and the parts of
a job are on different servers.

The proof goes through all schedules in which each job starts at its release, or at a time
before which too few GPUs were free on one of its servers. A node asks for one waiting job
that could start now: in one of the ways to place it, or not? Of ways that differ only in
servers that are alike, it goes through one.
"""
import sys

import check_tree
from check_tree import Refused, integer, integers, lines, require


class Problem:
    def __init__(self, data):
        line, key = lines(data)
        require(line() == "yardstick-servers 1", "no problem of this format")
        self.about = {word: key(word) for word in ("instance", "objective", "class", "unit", "scale", "offset")}
        self.makespan = {"sum": False, "makespan": True}.get(key("minimise"))
        require(self.makespan is not None, "what is minimised is unknown")
        self.servers = tuple(integers(key("servers")))
        self.capacity = sum(self.servers)
        self.release, self.weight, self.patterns, self.duration, self.gang = [], [], [], [], []
        for _ in range(min(integer(key("jobs")), 10**5)):
            row = integers(line())
            require(len(row) == 3, "a job does not have three numbers")
            patterns = [integers(line()) for _ in range(min(row[2], 10**5))]
            require(patterns and all(len(p) % 2 and len(p) > 1 and min(p[2::2]) > 0 for p in patterns), "a job has no pattern, or one without parts")
            require(min(p[0] for p in patterns) > 0, "a job has no duration")
            self.release.append(row[0])
            self.weight.append(row[1])
            self.patterns.append([(p[0], list(zip(p[1::2], p[2::2]))) for p in patterns])
            self.duration.append(min(p[0] for p in patterns))  # the least
            self.gang.append(min(sum(p[2::2]) for p in patterns))
        require(self.release and line() == "", "there is no job, or something follows the last one")
        require(not self.makespan or max(self.weight) == 0, "a makespan has no weights")

    def cost(self, starts, held):
        """The cost of a schedule, which must be one. held[j][m]: GPUs of job j on server m."""
        require(len(starts) == len(held) == len(self.gang), "there is not one start and place for each job")
        require(all(len(h) == len(self.servers) for h in held), "there is not one number for each server")
        ends = []
        for j, s in enumerate(starts):
            require(s >= self.release[j], "job %d starts before its release" % j)
            parts = sorted((size, g) for size, g in zip(self.servers, held[j]) if g > 0)
            fits = [duration for duration, pattern in self.patterns[j] if sorted(pattern) == parts]
            require(fits, "job %d holds GPUs as none of its patterns does" % j)
            ends.append(s + fits[0])
        for s in starts:
            for m, size in enumerate(self.servers):
                require(sum(h[m] for h, t, end in zip(held, starts, ends) if t <= s < end) <= size, "a server has too few GPUs at %d" % s)
        return max(ends) if self.makespan else sum(w * end for w, end in zip(self.weight, ends))

    def options(self, j, now, before, free, running):
        """The ways to start job j now: duration, and GPUs on each server."""
        # Servers are alike if they have as many GPUs, of which as many were free just before
        # and are now, and the same running jobs hold the others.
        kind = [(size, before[m], free[m], tuple(sorted((end, held[m]) for end, held, _ in running if held[m] > 0)))
                for m, size in enumerate(self.servers)]
        for duration, pattern in self.patterns[j]:
            ways = [()]  # the servers of the first parts
            for part, (size, g) in enumerate(pattern):
                longer = {}
                for way in (way + (m,) for way in ways for m in range(len(self.servers))
                            if self.servers[m] == size and free[m] >= g and m not in way):
                    longer.setdefault(tuple(sorted((kind[m], pattern[i][1]) for i, m in enumerate(way))), way)
                ways = list(longer.values())
            for way in ways:
                held = [0] * len(self.servers)
                for (_, g), m in zip(pattern, way):
                    held[m] = g
                if self.release[j] == now or any(g > b for g, b in zip(held, before)):
                    yield duration, held


def close(problem, prices, now, cost, running, starts):
    """Whether every schedule of a node costs at least the value: weak duality, on the pool
    of all servers. A waiting job starts now, in one of its ways, or at its next start."""
    paid = sum(prices.until(j, end) - prices.until(j, now) for end, _, j in running)
    for j, ways, later in starts:
        costs = [prices.K * problem.weight[j] * (now + d) + prices.until(j, now + d) - prices.until(j, now) for d in ways]
        if later <= prices.latest[j]:
            costs.append(prices[j, later])
        if not costs:
            return True
        paid += min(costs)
    return prices.K * cost + paid - (prices.sum[-1][-1] - prices.until(-1, now)) > prices.goal


def tree(problem, value, order, prices, answers):
    """Goes through all schedules, and requires that none costs less than the value."""
    release, weight = problem.release, problem.weight
    # A node: the time; the GPUs of each server that were free just before, and are now; the cost of
    # the jobs started; those running, by end, GPUs and job; those waiting; how many of these were asked for.
    nodes = [(min(release), problem.servers, problem.servers, 0, (), tuple(order), 0)]
    while nodes:
        now, before, free, cost, running, waiting, asked = nodes.pop()
        while waiting:
            may = {j: list(problem.options(j, now, before, free, running)) for j in waiting[asked:] if release[j] <= now}
            may = {j: ways for j, ways in may.items() if ways}
            events = [end for end, _, _ in running] + [release[j] for j in waiting if release[j] > now]
            if may or not events:
                break
            before, now, asked = free, min(events), 0  # on to the next release or end
            free = tuple(f + sum(held[m] for end, held, _ in running if end == now) for m, f in enumerate(free))
            running = tuple(job for job in running if job[0] > now)
        if not waiting:
            require(not problem.makespan and cost >= value, "a schedule costs less than %d" % value)
            continue
        if not may:
            continue  # jobs wait for nothing: no schedule that is shifted to the left
        in_time = {j: [(d, held) for d, held in may.get(j, []) if not problem.makespan or now + d < value] for j in waiting}
        answer = next(answers, len(prices) + 1)
        require(answer <= len(prices), "there are not enough answers, or no prices %d" % answer)
        if answer > 0:
            later = min(events + [now + d for ways in may.values() for d, _ in ways])  # no other job starts sooner
            starts = [(j, {d for d, _ in in_time[j]}, max(later, release[j])) for j in waiting]
            require(close(problem, prices[answer - 1], now, cost, running, starts), "prices %d do not close a node at %d" % (answer, now))
            continue
        j = next(iter(may))
        at = waiting.index(j)
        nodes.append((now, before, free, cost, running, waiting, at + 1))  # j does not start now
        for d, held in reversed(in_time[j]):  # j starts now
            nodes.append((now, before, tuple(f - g for f, g in zip(free, held)), cost + weight[j] * (now + d),
                          running + ((now + d, held, j),), waiting[:at] + waiting[at + 1:], at))


def schedule(key):
    """The starts of a certificate, and its places: n numbers for each job."""
    starts, places = integers(key("starts")), integers(key("places"))
    n = len(places) // max(1, len(starts))
    require(len(places) == n * len(starts), "there are not as many places for each job")
    return starts, [places[i:i + n] for i in range(0, len(places), max(1, n))]


def check(problem_file, certificate):
    return check_tree.check(problem_file, certificate, "yardstick-tree-on-servers 2", Problem, tree, schedule)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python3 check_servers.py instance.txt optimum.cert")
    try:
        with open(sys.argv[1], "rb") as p, open(sys.argv[2], "rb") as c:
            print(check(p.read(), c.read()))
    except (Refused, OSError) as reason:
        sys.exit("refused: %s" % reason)
