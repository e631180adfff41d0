"""A policy that is learnt in a minute on a CPU: an evolution strategy on a linear score.

    python3 train.py weights.json

The score of a waiting job is linear in a few features; the job with the greatest score
that fits starts first. Weights are drawn around the best so far, and are judged by the
cost of whole episodes, so no gradient is needed. `Learned` serves what came out.
"""

import json
import math
import os
import random
import sys
import tempfile

import yardstick

TRACE = "builtin:philly?jobs=3000&seed="
KEYS = {
    "slice.jobs": 30, "slice.at": "busiest", "tooLarge": "drop", "round": "1m", "cluster.servers": 2, "cluster.gpusPerServer": 4,
    "cluster.inter": "10Gbps", "cluster.intra": "300GB/s",
}  # fmt: skip


def features(gpus, duration, waited):
    """Of one job; duration and waited are in seconds."""
    return math.log1p(duration) / 10, math.log2(gpus) / 3, math.log1p(waited) / 10


def score(weights, *job):
    return sum(w * f for w, f in zip(weights, features(*job)))


def cost(env, index, weights):
    """The verified cost of an episode, in seconds."""
    seen, info = env.reset(options={"instance": index})
    ended = False
    while not ended:
        rows = [i for i in range(env.queue) if info["action_mask"][i]]
        best = max(rows, key=lambda i: score(weights, *seen["waiting"][i, :3]))
        seen, _, ended, _, info = env.step(best)
    return info["cost"]


def train(env, rounds, children=6, seed=1):
    """Weights that are good on the environment's instances, by the mean logarithm of the costs."""
    draw = random.Random(seed)

    def loss(weights):
        return sum(math.log(cost(env, i, weights)) for i in range(len(env.instances)))

    best = (0.0, 0.0, 0.0)
    least, width = loss(best), 1.0
    for _ in range(rounds):
        drawn = [tuple(w + draw.gauss(0, width) for w in best) for _ in range(children)]
        losses = [loss(weights) for weights in drawn]
        if min(losses) < least:
            least, best = min(losses), drawn[losses.index(min(losses))]
        else:
            width *= 0.7
    return best


def instances(folder, seeds):
    return [yardstick.instance(os.path.join(folder, f"seed{s}.json"), f"{TRACE}{s}", KEYS) for s in seeds]


class Learned(yardstick.Policy):
    """The policy of weights.json, beside this file."""

    def begin(self, hello):
        with open("weights.json") as f:
            self.weights = json.load(f)

    def decide(self, view):
        def key(job):
            return -score(self.weights, job.gpus, (job.duration or 0) / 1e6, (view.now - job.release) / 1e6)

        return yardstick.Decision([job for job in sorted(view.waiting, key=key) if view.take(job)])


if __name__ == "__main__":
    from yardstick.gym import SchedulingEnv

    with tempfile.TemporaryDirectory() as folder:
        env = SchedulingEnv(instances(folder, range(1, 4)))
        weights = train(env, rounds=int(sys.argv[2]) if len(sys.argv) > 2 else 12)
        env.close()
    with open(sys.argv[1], "w") as f:
        json.dump(weights, f)
    print("weights of duration, GPUs and waiting:", *(f"{w:.2f}" for w in weights))
