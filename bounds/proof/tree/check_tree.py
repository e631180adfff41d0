#!/usr/bin/env python3
"""Checks a proof that no schedule of a problem costs less than some value.

    python3 check_tree.py instance.txt optimum.cert

Says "holds" and exits with 0, or says what fails and exits with 1. It needs Python 3.8 or later, and
nothing else. All numbers that decide are integers of any size.

The problem. Job j needs gang[j] of the capacity GPUs, without a break, for duration[j] from some start
that is not before release[j]. The cost is the sum of weight[j] times the end of j, or the last end.

The proof goes through all schedules in which each job starts at its release, or at a time before
which too few GPUs were free for it: by the lemma of left shifts one of these costs least. A node is
a time, the jobs that run then, and those that wait. It asks for one waiting job that could start
now: does it? Both answers are gone through, unless the certificate names prices that show by weak
duality that both cost too much. README.md beside this file has the two lemmas in full.
"""
import bisect
import hashlib
import re
import sys
from itertools import accumulate
class Refused(Exception):
    pass

def require(true, what):
    if not true:
        raise Refused(what)

def integers(text):
    require(re.fullmatch(r"(0|[1-9][0-9]{0,59})( (0|[1-9][0-9]{0,59}))*", text) or not text, "%.70r has other words than integers from 0 to 10^60" % text)
    return [int(word) for word in text.split()]

def integer(text):
    require(text and " " not in text, "%.70r is not one integer" % text)
    return integers(text)[0]

def lines(data):
    """Two functions: one for the next line of a file, one for what it says of a given key."""
    require(data.isascii() and data.endswith(b"\n") and b"\n\n" not in data, "a file is not text, has empty lines or is cut off")
    rest = iter(data.decode("ascii").split("\n"))

    def key(word):
        found, _, value = next(rest, "").partition(" ")
        require(found == word, "%.70r is where %r should be" % (found, word))
        return value

    return lambda: next(rest, ""), key

class Problem:
    def __init__(self, data):
        line, key = lines(data)
        require(line() == "yardstick-problem 1", "no problem of this format")
        self.about = {word: key(word) for word in ("instance", "objective", "class", "unit", "scale", "offset")}
        self.makespan = {"sum": False, "makespan": True}.get(key("minimise"))
        require(self.makespan is not None, "what is minimised is unknown")
        self.capacity = integer(key("capacity"))
        rows = [integers(line()) for _ in range(min(integer(key("jobs")), 10**5))]
        require(rows and all(len(row) == 4 for row in rows), "there is no job, or one without four numbers")
        require(line() == "", "something follows the last job")
        self.release, self.duration, self.gang, self.weight = zip(*rows)
        require(all(1 <= g <= self.capacity for g in self.gang), "a gang is empty, or larger than the pool")
        require(min(self.duration) > 0, "a job has no duration")
        require(not self.makespan or max(self.weight) == 0, "a makespan has no weights")

    def cost(self, starts):
        """The cost of a schedule, which must be one."""
        require(len(starts) == len(self.gang), "there is not one start for each job")
        ends = [s + p for s, p in zip(starts, self.duration)]
        for j, s in enumerate(starts):
            require(s >= self.release[j], "job %d starts before its release" % j)
            held = sum(g for g, t, end in zip(self.gang, starts, ends) if t <= s < end)
            require(held <= self.capacity, "%d GPUs are held at %d" % (held, s))
        return max(ends) if self.makespan else sum(w * end for w, end in zip(self.weight, ends))

def most(problem, pay):
    """The most that jobs pay, of which each pays as much if it is one, and which fit together."""
    require(problem.capacity <= 10**5, "prices are of jobs, and the pool is too large for that")
    best = [0] * (problem.capacity + 1)  # in so many GPUs
    for g, p in zip(problem.gang, pay):
        if p > 0:
            best[g:] = [p + rest if p + rest > without else without for without, rest in zip(best[g:], best)]
    return best[-1]

class Prices(dict):
    """What job j pays per unit of time that it runs, times K: v[j][i] from t[i] to t[i+1], and 0 outside.
    It pays for its GPUs, or a price of its own. v[n][i] is the most that jobs pay which fit together.
    As a dictionary: at (j, earliest) what job j costs and pays at least, which is found when asked for."""

    def __init__(self, problem, K, value, numbers):
        rows = numbers[0] if numbers else 0
        require(rows in (1, len(problem.gang)) and len(numbers) % (rows + 1) == 2 % (rows + 1), "prices are neither of GPUs nor of all jobs")
        self.t, v = numbers[1 :: rows + 1], [numbers[2 + j :: rows + 1] for j in range(rows)]
        require(all(a < b for a, b in zip(self.t, self.t[1:])), "the times of prices do not increase")
        if rows == 1:
            self.v = [[g * price for price in v[0]] + [0] for g in (*problem.gang, problem.capacity)]
        else:
            self.v = [row + [0] for row in v + [[most(problem, pay) for pay in zip(*v)]]]
        self.sum = [list(accumulate((p * (b - a) for p, a, b in zip(row, self.t, self.t[1:])), initial=0)) for row in self.v]
        self.problem, self.K = problem, K
        self.goal = 0 if problem.makespan else K * (value - 1)
        self.latest = [value - 1 - p if problem.makespan else 10**99 for p in problem.duration]  # starts to look at
        self.table = [None] * len(problem.gang)

    def until(self, j, time):
        """What job j pays that runs from the beginning until a time, or v[n] until then."""
        i = bisect.bisect_right(self.t, time) - 1
        return self.sum[j][i] + self.v[j][i] * (time - self.t[i]) if i >= 0 else 0

    def at(self, j, start):
        """What job j costs and pays if it starts then."""
        end = start + self.problem.duration[j]
        return self.K * self.problem.weight[j] * end + self.until(j, end) - self.until(j, start)

    def __missing__(self, pair):
        """The least of at(j, start) over all starts that are not earlier. Between two times at which the
        start or the end meets a change of price it is linear, and after the last it does not fall."""
        j, earliest = pair
        if self.table[j] is None:
            times = {x for t in self.t for x in (t, t - self.problem.duration[j]) if 0 <= x < self.latest[j]}
            times = sorted(times | {self.latest[j]})
            costs = [self.at(j, t) for t in times]
            for i in range(len(costs) - 2, -1, -1):  # from here on
                costs[i] = min(costs[i], costs[i + 1])
            self.table[j] = times, costs
        times, costs = self.table[j]
        i = bisect.bisect_left(times, earliest)
        self[pair] = min([self.at(j, earliest)] + costs[i : i + 1])
        return self[pair]

    def close(self, now, cost, running, earliest):
        """Whether every schedule of a node costs at least the value: weak duality."""
        if self.problem.makespan and any(e > self.latest[j] for j, e in earliest):
            return True
        paid = sum([self.until(j, end) - self.until(j, now) for end, j in running]) + sum([self[pair] for pair in earliest])
        return self.K * cost + paid - (self.sum[-1][-1] - self.until(-1, now)) > self.goal

def tree(problem, value, order, prices, answers):
    """Goes through all schedules, and requires that none costs less than the value."""
    release, duration, gang, weight = problem.release, problem.duration, problem.gang, problem.weight
    # A node: the time; how many GPUs were free just before, and are now; the cost of the jobs
    # started; those running, by end; those waiting; how many of these were asked for.
    nodes = [(min(release), problem.capacity, problem.capacity, 0, (), tuple(order), 0)]
    while nodes:
        now, before, free, cost, running, waiting, asked = nodes.pop()
        while waiting:
            may = [j for j in waiting[asked:] if release[j] <= now and gang[j] <= free
                   and (release[j] == now or gang[j] > before)]
            events = [end for end, _ in running] + [release[j] for j in waiting if release[j] > now]
            if may or not events:
                break
            before, now, asked = free, min(events), 0  # on to the next release or end
            free += sum(gang[j] for end, j in running if end == now)
            running = tuple(job for job in running if job[0] > now)
        if not waiting:
            require(not problem.makespan and cost >= value, "a schedule costs less than %d" % value)
            continue
        if not may:
            continue  # jobs wait for nothing: no schedule that is shifted to the left
        answer = next(answers, len(prices) + 1)
        require(answer <= len(prices), "there are not enough answers, or no prices %d" % answer)
        if answer > 0:
            later = min(events + [now + duration[j] for j in may])  # no other job starts sooner
            earliest = [(j, now if j in may else max(later, release[j])) for j in waiting]
            require(prices[answer - 1].close(now, cost, running, earliest), "prices %d do not close a node at %d" % (answer, now))
            continue
        j, end, at = may[0], now + duration[may[0]], waiting.index(may[0])
        nodes.append((now, before, free, cost, running, waiting, at + 1))  # j does not start now
        if not problem.makespan or end < value:  # j starts now
            nodes.append((now, before, free - gang[j], cost + weight[j] * end, running + ((end, j),),
                          waiting[:at] + waiting[at + 1:], at))

def check(problem_file, certificate, kind="yardstick-tree 2", Problem=Problem, tree=tree, schedule=lambda key: [integers(key("starts"))]):
    problem, (line, key) = Problem(problem_file), lines(certificate)
    require(line() == kind, "no certificate of this format")
    require(key("problem") == hashlib.sha256(problem_file).hexdigest(), "the certificate is of another problem")
    claim, value, K = key("claim"), integer(key("value")), integer(key("scale"))
    require(K > 0, "the scale is 0")
    order, found = integers(key("order")), schedule(key)
    require(sorted(order) == list(range(len(problem.gang))), "the order does not have each job once")
    if claim == "optimum":
        require(problem.cost(*found) == value, "the schedule does not cost %d" % value)
    else:
        require(claim == "bound" and not any(found), "the claim is neither an optimum nor a bound without starts")
    prices = [Prices(problem, K, value, integers(line())) for _ in range(min(integer(key("prices")), 10**5))]
    answers = (answer for text in iter(line, "end") for answer in integers(text or "nothing"))
    tree(problem, value, order, prices, answers)
    require(next(answers, None) is None and line() == "", "something follows the tree")
    return "holds: no schedule costs less than %d%s\nso %s of instance %s is at least %s * %d + %s" % (
        value, ", and one costs as much, the optimum" if claim == "optimum" else "", problem.about["objective"],
        problem.about["instance"], problem.about["scale"], value, problem.about["offset"])

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python3 check_tree.py instance.txt optimum.cert")
    try:
        with open(sys.argv[1], "rb") as p, open(sys.argv[2], "rb") as c:
            print(check(p.read(), c.read()))
    except (Refused, OSError) as reason:
        sys.exit("refused: %s" % reason)
