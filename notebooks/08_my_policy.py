# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # My policy: from an idea to its worst case
#
# The other notebooks show results; this one makes its own, in half a minute. It takes a policy of a few lines, measures how far it is from
# proven optima, brackets its ratio where no optimum is known, and searches for the instance on which it is worst. Change
# `mine.py` below and run it again. It needs the program `bench`: on `PATH`, beside python, or where `YARDSTICK_BENCH` says.

# %%
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
from IPython.display import display

import yardstick
import yardstick.results as yr
from yardstick.program import BenchError, call, find_bench

pl.Config.set_tbl_rows(40)
pl.Config.set_tbl_cols(20)
folder = Path(tempfile.mkdtemp(prefix="my-policy-"))
try:
    find_bench()
    bench = True
except BenchError as e:
    bench = False
    print(f"Nothing to show here: {e}")

# %% [markdown]
# ## The policy
#
# A class with one method. `view.waiting` are the jobs that wait, `view.take` holds free GPUs for one. This one takes the job of the least
# GPU time first, and lets no job overtake the one that it waits for.

# %%
mine = folder / "mine.py"
mine.write_text('''
import yardstick


class SmallestWork(yardstick.Policy):
    def decide(self, view):
        start = []
        for job in sorted(view.waiting, key=lambda job: job.duration * job.gpus):
            if not view.take(job):  # holds free GPUs for it
                break
            start.append(job)
        return yardstick.Decision(start)


if __name__ == "__main__":
    yardstick.serve(SmallestWork)
''')
suite = folder / "suite.yaml"
suite.write_text("""
name: mine
instances:
  - name: small
    slice: {jobs: 7, at: busiest, repeat: 4}
    cluster: {servers: 2, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
    references: [exhaustive]
  - name: large
    slice: {jobs: 150, at: busiest, repeat: 2}
    cluster: {servers: 4, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
    references: [lagrangian, srpt-ranked]
objectives: [total-jct]
""")
policies = [mine, "sjf", "sjf(blocking=skip)", "a-srpt-perfect"]
results = yardstick.run(suite, policies, predictor="perfect", out=folder / "results") if bench else None

# %% [markdown]
# ## How far from the optimum?
#
# Geometric means over the small instances, whose optima are proven. **What to see:** the distance of `mine` from 1, and whether the
# policies that are built in are nearer. The predictor `perfect` told all of them how long jobs will take.

# %%
if bench:
    ratios = yr.with_ratio(results.ratios).filter(pl.col("kind") == "online", pl.col("ratio").is_not_null())
    small = ratios.filter(pl.col("family") == "small")
    yr.ratio_bars(small)
    display(small.select("instance", "method", "ratio", "offered_load").pivot("method", index=["instance", "offered_load"], values="ratio"))

# %% [markdown]
# ## The bracket, where no optimum is known
#
# On 150 jobs the optimum stays unknown, but it is at least the best proven bound, and at most the cost of the best schedule found. **What to see:**
# the true ratio of each policy lies on its line; where the lines are short, the question is answered all the same.

# %%
if bench:
    large = ratios.filter(pl.col("family") == "large")
    instances, methods = yr.names(large, "instance"), yr.names(large)
    axes = yr.panels(len(instances), width=8, height=2.2, columns=1)
    for ax, instance in zip(axes, instances):
        for y, method in enumerate(methods):
            row = large.filter(pl.col("instance") == instance, pl.col("method") == method).row(0, named=True)
            low, high = row["ratio_to_best_known"], row["ratio_to_lower_bound"]
            ax.plot([low, high], [y, y], marker="|", linewidth=4, markersize=12)
        ax.set_yticks(range(len(methods)), methods)
        ax.set(ylabel="method", xlabel="total JCT / optimum: at least, and at most")
        ax.set_title(f"{instance} (n={row['jobs']} jobs)")
        ax.invert_yaxis()
        yr.log_scale(ax)

# %% [markdown]
# ## Its worst case
#
# `bench hunt` changes instances step by step to make the ratio larger, proves every optimum, and shrinks what it ends with. More
# evaluations find worse; these few take seconds.

# %%
if bench:
    program = ["--policy-command", f"{sys.executable} {mine}", "--policy-files", str(Path(yardstick.__file__).parent), "-p", "predictor=perfect"]
    worst = folder / "worst.json"
    hunted = call(["hunt", *program, "--jobs", "5", "--gpus", "4", "--evaluations", "150", "-q", "-o", str(worst)])
    print("\n".join(hunted.stdout.splitlines()[:5]))

# %% [markdown]
# The policy's schedule above the optimal one. A row is a GPU, a colour a job. **What to see:** which job the policy starts too early or holds
# back, so that all others wait for it; that is what to mend in `mine.py`.

# %%
if bench:
    again = folder / "again.yaml"
    again.write_text(f"name: again\ninstances:\n  - {{name: worst, file: {worst}}}\nobjectives: [total-jct]\nreferences: [exhaustive]\n")
    found = yardstick.run(again, [mine], predictor="perfect", out=folder / "again")
    shown = found.ratios.filter(pl.col("schedule").is_not_null()).sort("kind", descending=True)
    longest = found.segments["end_s"].max()
    figure, axes = plt.subplots(len(shown), 1, figsize=(8, 1.9 * len(shown)), layout="constrained", squeeze=False, sharex=True)
    for ax, row in zip(axes[:, 0], shown.iter_rows(named=True)):
        segments = found.segments.filter(pl.col("cell_id") == row["cell_id"], pl.col("schedule") == row["schedule"])
        yr.gantt(segments, row["servers"], row["gpus"], ax=ax, longest=longest)
        ax.set_title(f"{row['method']}: {row['cost']:,.0f} s, {row['ratio_to_optimum']:.3f} times the optimum", fontsize=9)

# %% [markdown]
# Next: `docs/guides/policy-python.md` goes on to preemption, elastic jobs and search over programs; a suite of yours, with your trace, in place
# of the one above; and `bench hunt family`, which looks for a family of instances of any size.
