"""Statistics of repeated timings. Needs the standard library only."""

import math
import statistics


class Summary:
    """What is reported of a list of timings: the median and how sure it is."""

    def __init__(self, samples):
        if not samples:
            raise ValueError("there are no timings")
        for s in samples:
            if not math.isfinite(s) or s < 0:
                raise ValueError(f"{s} is no timing")
        self.count = len(samples)
        self.median = statistics.median(samples)
        self.low, self.high = median_interval(samples)

    @property
    def spread(self):
        """Width of the interval over the median; infinite while there are too few timings."""
        if self.median == 0:
            return 0.0
        return (self.high - self.low) / self.median


def median_interval(samples, confidence=0.95):
    """Return a distribution-free confidence interval of the median.

    The k-th smallest and k-th largest of n samples enclose the median with
    probability 1 - 2 P(Binomial(n, 1/2) < k); the largest such k is taken.
    Fewer than six samples give (0, inf) at 0.95.
    """
    ordered = sorted(samples)
    n = len(ordered)
    below, k = 0.0, 0
    while k < n // 2:
        below += math.comb(n, k) / 2**n
        if 2 * below > 1 - confidence:
            break
        k += 1
    if k == 0:
        return 0.0, math.inf
    return ordered[k - 1], ordered[n - k]


def repeat(measure, warmup=3, least=7, most=50, spread=0.05):
    """Call measure until the median is known to within the spread.

    measure() returns one timing in nanoseconds, or a tuple of several. The first
    calls, warmup of them, are thrown away. Returns one Summary, or a tuple.
    """
    if least < 1 or most < least:
        raise ValueError(f"from {least} to {most} repeats")
    for _ in range(warmup):
        measure()
    samples, single = [], False
    while True:
        got = measure()
        single = not isinstance(got, tuple)
        samples.append((got,) if single else got)
        if len(samples) >= least:
            summaries = tuple(Summary(list(column)) for column in zip(*samples))
            if len(samples) >= most or all(s.spread <= spread for s in summaries):
                return summaries[0] if single else summaries


def overlapping(steps, start, end):
    """Return the durations of the steps, (begin, end) pairs, that lie within the window."""
    return [b - a for a, b in steps if a >= start and b <= end]


def slowdown(alone_ns, shared_ns):
    """Return xi, how much longer an iteration takes on a shared GPU.

    Sharing speeds nothing up, so a ratio below 1 is noise and counts as 1.
    """
    if alone_ns <= 0:
        raise ValueError(f"an iteration alone takes {alone_ns} ns")
    return max(1.0, shared_ns / alone_ns)
