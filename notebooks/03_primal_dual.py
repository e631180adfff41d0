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
# # Primal-dual scheduling of elastic jobs: ratios and certificates
#
# The shapes of Figures 2, 3, 5 to 8, 10 and 12 of the primal-dual paper. Its jobs are *elastic*: the scheduler chooses how many workers (and parameter
# servers) a job gets, of which type, and when. `primal-dual` is its online algorithm A_online, `a-maxweight` the batch algorithm
# A_maxweight inside it; `elastic-fifo`, `elastic-drf`, `elastic-antman` and `elastic-tiresias` are its baselines.
#
# The golden results have three jobs per instance, so that branch and price proves the optimum, where the paper has up to hundreds and no
# optimum. `docs/primaldual.md` lists which of the paper's statements are false within their scope, and what holds instead.

# %%
import matplotlib.pyplot as plt
import polars as pl
from IPython.display import display

import yardstick.results as yr

results = yr.load()
pl.Config.set_tbl_rows(40)
pl.Config.set_tbl_cols(20)
pl.Config.set_fmt_str_lengths(50)
elastic = yr.with_ratio(results.ratios).filter(pl.col("model") == "elastic")
online = elastic.filter(pl.col("objective") == "weighted-completion", pl.col("cost").is_not_null())
batch = elastic.filter(pl.col("objective") == "scheduled-weight", pl.col("cost").is_not_null())

# %% [markdown]
# ## Total weighted completion time (Figures 2, 3, 5 and 6)
#
# The mean over instances, per family; the exact optimum is drawn beside the policies. **What to see:** the distance of every bar from
# `elastic-optimum`. Two of the baselines preempt and resize running jobs, which the others may not: they can be *below* the optimum of
# the schedules that keep what they have, and that is no contradiction. The paper finds these two worst; here restarts cost what the
# instance says, and they are not.

# %%
if yr.some(online, "elastic jobs with the objective weighted-completion"):
    families = yr.groups(online, "run", "family")
    axes = yr.panels(len(families))
    for ax, (title, rows) in zip(axes, families.items()):
        rows = yr.common(rows)
        shown = rows.group_by("method", maintain_order=True).agg((pl.col("cost").mean() / 3600).alias("hours"))
        yr.bars(shown, "hours", "Σ weight · completion, mean (h)", ax=ax)
        ax.set_title(f"{title} (n={rows['instance'].n_unique()})")

# %% [markdown]
# ## Ratios
#
# **What to see:** each point is an instance; filled ones are over the proven optimum, hollow ones over a lower bound (the truth is not
# above them). The class decides what may be a denominator: schedules of class Es keep their workers, those of class EPs do not, and
# only a bound that holds for both may divide the latter.

# %%
def points(rows, ax):
    """A row of points per method: filled over the optimum, hollow over a bound."""
    methods = yr.names(rows)
    for y, method in enumerate(methods):
        for proven, face in (("optimum", "tab:blue"), ("lower bound", "none")):
            values = rows.filter(pl.col("method") == method, pl.col("denominator") == proven)["ratio"].to_list()
            ax.scatter(values, [y] * len(values), facecolors=face, edgecolors="tab:blue")
    ax.set_yticks(range(len(methods)), methods)
    ax.set(ylabel="method", xlabel="empirical ratio")
    ax.invert_yaxis()
    yr.log_scale(ax)
    ax.axvline(1, color="grey", linewidth=0.8)


if yr.some(online, "elastic jobs with the objective weighted-completion"):
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    points(online.drop_nulls("ratio"), ax)
    ax.set_title("filled: over the proven optimum · hollow: over a lower bound")

# %% [markdown]
# ## Against the number of jobs and servers (Figures 2, 3 and 12)
#
# Shown where a result has several sizes. **What to see:** whether the ratio of A_online grows with the number of jobs (its theorem
# allows a factor that does not depend on it) or with the number of servers (as its paper says of fragmented capacity).

# %%
sizes = [c for c in ("jobs", "servers") if online.drop_nulls("ratio")[c].n_unique() > 1]
if yr.some(pl.DataFrame({"size": sizes}), "elastic instances of several sizes"):
    axes = yr.panels(len(sizes))
    for ax, column in zip(axes, sizes):
        yr.sweep(online.drop_nulls("ratio"), column, "ratio", f"number of {column}", f"cost / {yr.over(online)}, geometric mean", ax=ax)

# %% [markdown]
# ## Weight scheduled by a deadline (Figures 8 and 12)
#
# A_maxweight against the greedy order by density and the optimum. **What to see:** the share of the greatest possible weight; the paper
# says that A_maxweight is "much better" than a greedy algorithm, which is not what these instances show.

# %%
if yr.some(batch, "elastic jobs with the objective scheduled-weight"):
    shown = batch.with_columns((pl.col("cost") / pl.coalesce("optimum", "upper_bound")).alias("share"))
    shown = yr.common(shown.drop_nulls("share")).group_by("method", maintain_order=True).agg(
        pl.col("share").mean() * 100,
        pl.len().alias("instances"),
        pl.when(pl.col("optimum").is_null().any()).then(pl.lit("≥")).otherwise(pl.lit("")).alias("sign"),  # over an upper bound
    )
    yr.bars(shown, "share", f"share of the greatest weight (%), mean (n={shown['instances'].max() or 0} common instances)")

# %% [markdown]
# ## Workers and completion (Figure 10)
#
# **What to see:** each point is a job under A_online. More workers mean a shorter time per job, until the job waits longer for that
# many to be free.

# %%
jobs = results.jobs.join(
    online.filter(pl.col("method").str.starts_with("primal-dual")).select("run", "cell_id", "schedule", "family").unique(),
    on=["run", "cell_id", "schedule"],
).drop_nulls("completion_s")
if yr.some(jobs, "jobs under primal-dual"):
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for title, rows in yr.groups(jobs, "family").items():
        ax.scatter(rows["gpus"], rows["train_s"] / 3600, label=f"{title}, {len(rows)} jobs: training")
        ax.scatter(rows["gpus"], rows["jct_s"] / 3600, marker="x", label=f"{title}, {len(rows)} jobs: completion")
    ax.set(xlabel="most GPUs held at a time", ylabel="time since release, or in training (h)")
    yr.log_scale(ax)
    yr.log_scale(ax, "y")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))

# %% [markdown]
# ## Certificates
#
# Every run of A_online carries its own: the bound of Lemma 1 with the number of batch problems that *this* run needed, and each batch's
# upper bound from its prices. **What to see:** the ratio that the certificate allows beside the ratio that was measured; the closer,
# the more of the guarantee is used up. `violated` never occurs where the assumptions are met.

# %%
certificates = results.theorems.filter(pl.col("theorem").str.starts_with("primal-dual"))
if yr.some(certificates, "statements about primal-dual"):
    display(certificates.group_by("theorem", "form", "verdict", maintain_order=True).agg(pl.len().alias("runs")))
    measured = online.select("run", "cell_id", "instance", "ratio").unique()
    shown = certificates.drop_nulls("bound").join(measured, on=["run", "cell_id", "instance"]).drop_nulls("ratio")
    if not shown.is_empty():
        figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
        ax.scatter(shown["bound"], shown["ratio"])
        top = float(shown["bound"].max())
        ax.plot([1, top], [1, top], color="grey", linewidth=0.8, label="allowed = measured")
        ax.set(xlabel="ratio that the certificate allows", ylabel="ratio measured")
        ax.legend()

# %% [markdown]
# How the denominators of this notebook were proven; *certified* means that a certificate was checked in exact
# arithmetic (`docs/certificates.md`).

# %%
if yr.some(elastic, "elastic jobs"):
    evidence = ["objective", "class", "optimum_status", "lower_bound_method", "lower_bound_certified"]
    display(elastic.group_by(evidence, maintain_order=True).agg(pl.len().alias("rows")))

# %% [markdown]
# ## Running time (Figure 7)
#
# **What to see:** the median time of one decision on the machine of the run. The paper's "below two minutes" is for whole runs of
# hundreds of jobs in MATLAB.

# %%
timed = online.drop_nulls("decision_p50_s")
if yr.some(timed, "timed decisions"):
    shown = yr.common(timed).group_by("method", maintain_order=True).agg(pl.col("decision_p50_s").median() * 1e6)
    yr.bars(shown, "decision_p50_s", "time of one decision, median (µs)")
