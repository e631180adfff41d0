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
# # Worst cases
#
# Averages hide how bad a policy can be. `bench hunt` searches for the instance on which a policy is worst compared with the proven optimum
# and shrinks it to a few jobs; `docs/worst-cases.md` lists what it found. A suite can run such an instance like any other
# (`- file: worst.json`). This notebook takes, for each model, the worst proven ratios of a result and draws the policy's schedule
# above the optimal one.

# %%
import matplotlib.pyplot as plt
import polars as pl
from IPython.display import display

import yardstick.results as yr

results = yr.load()
pl.Config.set_tbl_rows(40)
pl.Config.set_tbl_cols(20)
pl.Config.set_fmt_str_lengths(60)
proven = results.ratios.filter(pl.col("ratio_to_optimum").is_not_null(), pl.col("schedule").is_not_null())
online = proven.filter(pl.col("kind") == "online").sort("ratio_to_optimum", descending=True)

# %% [markdown]
# ## The worst ratios
#
# Per policy the instance on which it is furthest from the optimum. These are *lower* estimates of its competitive ratio: an adversary
# can be worse, never better than what was measured.

# %%
if yr.some(online, "policies beside proven optima"):
    worst = online.unique(["model", "method", "objective"], keep="first", maintain_order=True)
    rounded = [pl.col("ratio_to_optimum").round(3), "theorem", pl.col("theorem_bound").round(1)]
    display(worst.select("model", "method", "objective", "instance", "jobs", "gpus", *rounded))

# %% [markdown]
# ## Gantt charts
#
# The policy above, the optimum below, on one time axis. A row is a GPU, a colour a job (its number is written in long bars), hatched
# parts are loads (`//`) and saves (`xx`). The files say how many GPUs of a server a job holds, not which: rows are filled from the
# top. **What to see:** which job the policy started too early, or let wait for nothing, so that the others pay for it; the
# optimum lets exactly that job wait, or packs around it.
#
# Shown is the worst instance of each policy that was hunted (families whose name begins with `worst`), and, where there are none, the
# worst of each model.

# %%
hunted = online.filter(pl.col("family").str.starts_with("worst"))
if hunted.is_empty():
    chosen = online.unique("model", keep="first", maintain_order=True)
else:
    chosen = hunted.unique("instance", keep="first", maintain_order=True)


def of(row, table):
    """The rows of a table about a row's schedule."""
    return table.filter(*(pl.col(c) == row[c] for c in ("run", "cell_id", "schedule")))


def optimal(row):
    """The rows of exact methods that found an optimal schedule of a row's instance."""
    same = proven.filter(*(pl.col(c) == row[c] for c in ("run", "instance", "objective")))
    return same.filter(pl.col("kind") == "exact", pl.col("cost_exact") == row["optimum_exact"])


if yr.some(chosen, "policies beside proven optima"):
    for row in chosen.head(6).iter_rows(named=True):
        shown = [row, *optimal(row).head(1).iter_rows(named=True)]
        charts = [of(r, results.segments) for r in shown]
        if any(c.is_empty() for c in charts) or sum(map(len, charts)) > 3000:
            print(f"{row['instance']}: no segments, or too many to draw")
            continue
        longest = max(c["end_s"].max() for c in charts)
        size = (8, 0.6 + len(charts) * (0.9 + 0.2 * row["gpus"] + 0.1 * row["servers"]))
        figure, axes = plt.subplots(len(charts), 1, figsize=size, layout="constrained", squeeze=False, sharex=True)
        for ax, r, segments in zip(axes[:, 0], shown, charts):
            yr.gantt(segments, row["servers"], row["gpus"], ax=ax, longest=longest)
            ax.set_title(f"{r['method']}: {r['objective']} {r['cost']:,.1f}, {r['ratio_to_optimum']:.3f} times the optimum", fontsize=9)
        figure.suptitle(row["instance"], fontsize=10)

# %% [markdown]
# ## Job by job
#
# Completion under the policy and under the optimum, for the first instance above. **What to see:** the jobs far above the diagonal are
# those that the policy's mistake hit; the few below it are those it favoured.

# %%
if not chosen.is_empty():
    row = chosen.row(0, named=True)
    if yr.some(optimal(row), "optimal schedule of that instance"):
        one, other = (of(r, results.jobs) for r in (row, optimal(row).row(0, named=True)))
        both = one.join(other, on="job", suffix="_optimum").drop_nulls(["completion_s", "completion_s_optimum"])
        scale, unit = yr.time_unit(both["completion_s"].max())
        figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
        ax.scatter(both["completion_s_optimum"] / scale, both["completion_s"] / scale)
        for r in both.iter_rows(named=True):
            at = (r["completion_s_optimum"] / scale, r["completion_s"] / scale)
            ax.annotate(r["job"], at, xytext=(4, 4), textcoords="offset points", fontsize=8)
        top = both["completion_s"].max() / scale
        ax.plot([0, top], [0, top], color="grey", linewidth=0.8)
        ax.set(xlabel=f"completion in the optimal schedule ({unit})", ylabel=f"completion under {row['method']} ({unit})")
        ax.set_title(row["instance"])
