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
# # Lazer: where the time goes, and futile preemptions
#
# The shapes of Figures 3 to 5 and of Table 2 of the Lazer paper. Its setting: jobs may be preempted for shorter ones, but whoever starts
# or resumes must *load* first, and whoever is preempted *saves*. A preemption is **futile** if its beneficiary is preempted itself
# before it has trained: its load was for nothing. Lazer waits a little before it preempts, to avoid that.
#
# `periodic-60`, `-360` and `-600` repack every 60, 360 and 600 seconds: that is what the paper calls Pollux, Muri and Optimus. The golden
# results hold ten jobs under two load times, which is enough to draw the figures and not enough to rank the policies. For the paper's
# own sizes run `bench reproduce lazer-fig3` and the like; `docs/reproduction/lazer.md` discusses what agrees and what does not.

# %%
import polars as pl
from IPython.display import display

import yardstick.results as yr

results = yr.load()
pl.Config.set_tbl_rows(40)
pl.Config.set_tbl_cols(20)
pl.Config.set_fmt_str_lengths(50)
# One row per schedule: a cell has several where it was run for several objectives.
cells = results.ratios.filter(pl.col("model") == "preemptive", pl.col("kind") == "online", pl.col("cost").is_not_null())
cells = cells.filter(~pl.col("family").str.starts_with("worst"))  # instances that were hunted: notebook 07
cells = cells.unique(["run", "cell_id", "schedule"], maintain_order=True)
cells = cells.with_columns(pl.col("method").str.replace_all(r"blocking=|placement=", "").alias("policy"))
cells = yr.with_setting(results, cells, "startup").with_columns(pl.concat_str(["run", "family"], separator="/").alias("where"))
swept = [c for c in yr.swept(cells) if cells[c].n_unique() > 1]
if swept:
    text = [pl.lit(" ") + pl.lit(c[2:] + "=") + pl.col(c).cast(pl.Utf8).fill_null("") for c in swept]
    cells = cells.with_columns(pl.concat_str("where", *text).alias("where"))
# In every setting, the instances on which all policies shown there ran.
cells = yr.common(cells, "policy", key=("run", "instance"), within=("where",))
jobs = results.jobs.join(cells.select("run", "cell_id", "schedule", "policy", "where"), on=["run", "cell_id", "schedule"])
settings = yr.names(cells, "where")[:4]  # at most four panels
if len(settings) < cells["where"].n_unique():
    print(f"Shown are the first {len(settings)} of {cells['where'].n_unique()} families and settings.")

# %% [markdown]
# ## JCT and its breakdown (Figure 3)
#
# Mean job completion time, split into training, loading, saving and waiting. (The paper shows medians, whose parts do not add up;
# means do.) **What to see:** training is the same for all, so that all differences are waiting and loading; loading grows with every
# preemption.

# %%
parts = {"train_s": "training", "load_s": "loading", "pause_s": "saving", "wait_s": "waiting"}
if yr.some(jobs, "preemptive jobs"):
    axes = yr.panels(len(settings))
    for ax, setting in zip(axes, settings):
        rows = jobs.filter(pl.col("where") == setting)
        shown = rows.group_by("policy", maintain_order=True).agg(*(pl.col(c).mean() / 60 for c in parts))
        yr.stacked(shown, parts, "job completion time, mean (min)", by="policy", ax=ax)
        ax.set_title(setting)

# %% [markdown]
# ## GPU time lost to futile preemptions (Figure 4)
#
# GPU time spent in loads that a preemption cut short, over all GPU time held. **What to see:** it is zero without preemption (`sjf`) and
# grows with the time that a load takes. The paper reports up to 10 % for SRTF and 13 % for Pollux, and next to nothing for Lazer;
# ten jobs with a handful of preemptions (the golden results) show no such order.

# %%
if yr.some(jobs, "preemptive jobs"):
    held = pl.col("gpus") * (pl.col("train_s") + pl.col("load_s") + pl.col("pause_s"))
    lost = jobs.group_by("where", "policy", maintain_order=True).agg(
        (100 * (pl.col("gpus") * pl.col("futile_s")).sum() / held.sum()).alias("lost"), pl.col("preemptions").sum()
    )
    futile = cells.group_by("where", "policy").agg(pl.col("futile_preemptions").sum())
    lost = lost.join(futile, on=["where", "policy"], maintain_order="left")
    axes = yr.panels(len(settings))
    for ax, setting in zip(axes, settings):
        yr.bars(lost.filter(pl.col("where") == setting), "lost", "GPU time lost to futile preemptions (%)", by="policy", ax=ax)
        ax.set_title(setting)
    display(lost.with_columns(pl.col("lost").round(3)).rename({"lost": "GPU time lost (%)"}))

# %% [markdown]
# ## Waiting, relative to SJF (Figure 5)
#
# Median waiting time over that of SJF. **What to see:** schedulers that act every few minutes make jobs wait about half an interval
# even on free GPUs, so that the bars grow with the interval; the paper has 14, 22 and 35 for 60, 360 and 600 s. Where SJF's own
# median is close to 0 the factor means nothing, and where GPUs are scarce its waits are long and the factors small.

# %%
waits = jobs.group_by("where", "policy", maintain_order=True).agg(pl.col("wait_s").median())
base = waits.filter(pl.col("policy").str.starts_with("sjf")).select("where", pl.col("wait_s").alias("sjf"))
waits = waits.join(base, on="where", maintain_order="left").filter(pl.col("sjf") > 0)
waits = waits.with_columns((pl.col("wait_s") / pl.col("sjf")).alias("factor"))
if yr.some(waits, "runs of sjf on preemptive jobs with waiting"):
    shown = [s for s in settings if s in yr.names(waits, "where")]
    axes = yr.panels(len(shown))
    for ax, setting in zip(axes, shown):
        yr.bars(waits.filter(pl.col("where") == setting), "factor", "median waiting time / that of SJF", by="policy", ax=ax)
        ax.set_title(setting)

# %% [markdown]
# ## Table 2
#
# Medians and 95th percentiles over jobs, in minutes. Percentiles of ten jobs are single jobs.

# %%
if yr.some(jobs, "preemptive jobs"):
    columns = {"jct_s": "JCT", "wait_s": "waiting", "futile_s": "futile"}
    measures = [
        (pl.col(c).quantile(q, "higher") / 60).round(2).alias(f"{name} P{int(100 * q)} (min)")
        for c, name in columns.items()
        for q in (0.5, 0.95)
    ]
    display(jobs.group_by("where", "policy", maintain_order=True).agg(pl.len().alias("jobs"), *measures))

# %% [markdown]
# ## How far from the best possible?
#
# The paper compares policies with each other; here each is compared with a lower bound on *any* preemptive schedule (an optimum, where
# jobs are few and slotted). A mean marked ≤ has ratios over bounds, and is at most what it says. **What to see:** the space below the bars of the best policy is an upper limit of what deferring could
# ever gain.

# %%
proven = yr.with_ratio(cells).drop_nulls("ratio")
if yr.some(proven, "proven ratios of preemptive jobs"):
    axes = yr.panels(len(settings))
    for ax, setting in zip(axes, settings):
        rows = proven.filter(pl.col("where") == setting)
        yr.ratio_bars(rows, by="policy", ax=ax, key=("run", "instance"))
        ax.set_title(setting)
