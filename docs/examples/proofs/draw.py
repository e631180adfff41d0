"""The instances of the tables of docs/proofs.md, on standard output, by jobs and seed.

    python3 docs/examples/proofs/draw.py 20 1 > instance.json            # random microseconds
    python3 docs/examples/proofs/draw.py 20 1 --hours > instance.json    # whole hours
    bench prove instance.json -o proof                                   # --format veripb for whole hours

Each of the jobs takes 1 to 15 of 32 GPUs for 1 to 20 hours. In random microseconds they are
released within half of the time that 32 GPUs take for all work; in whole hours each 0 to 2
hours after the one before. Weights are 1. The seed is one of random.Random, of which only
random() is used: it gives the same numbers in every version of Python 3.
"""
import argparse
import json
import random


def draw(jobs, seed, hours):
    rng = random.Random(seed)
    hour = 3_600_000_000  # microseconds
    gangs = [1 + int(15 * rng.random()) for _ in range(jobs)]
    if hours:
        durations = [hour * (1 + int(20 * rng.random())) for _ in range(jobs)]
        gaps = [hour * int(3 * rng.random()) for _ in range(jobs)]
        releases = [sum(gaps[:j]) for j in range(jobs)]
    else:
        durations = [int((1 + 19 * rng.random()) * hour) for _ in range(jobs)]
        span = sum(g * d for g, d in zip(gangs, durations)) / 32 / 2
        releases = [int(rng.random() * span) for _ in range(jobs)]
    return {
        "name": "%d jobs, seed %d%s" % (jobs, seed, ", whole hours" if hours else ""),
        "model": "gang",
        "cluster": {"servers": [{"gpus": 32}], "inter": "1GB/s", "intra": "10GB/s"},
        "jobs": [{"release": "%dus" % r, "weight": 1, "iters": 1, "stages": [{"replicas": g, "compute": "%dus" % d}]}
                 for r, d, g in zip(releases, durations, gangs)],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobs", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--hours", action="store_true", help="whole hours")
    given = parser.parse_args()
    print(json.dumps(draw(given.jobs, given.seed, given.hours), indent=1))
