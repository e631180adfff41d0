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
# # First look at a result
#
# `bench run SUITE.yaml` replays scheduling policies on instances, solves these instances exactly or bounds them from below, and
# writes a *result directory*: a manifest and one Arrow file per table. This notebook opens one, checks it, and draws the three
# pictures that answer most questions: the table of ratios, their distribution, and a performance profile.
#
# By default it shows the small *golden* results that are kept beside the notebooks. To see your own:
# `make notebooks DIR=results/my-suite`, or change the argument of `load` below.

# %%
import polars as pl

import yardstick.results as yr

results = yr.load()  # a path such as "../results/quick"; "golden" by default
pl.Config.set_tbl_rows(60)
pl.Config.set_tbl_cols(20)
pl.Config.set_fmt_str_lengths(60)
pl.DataFrame(
    [
        (run.name, name, table.num_rows, table.num_columns)
        for run in results.runs.values()
        for name, table in run.tables.items()
    ],
    schema=["run", "table", "rows", "columns"],
    orient="row",
).pivot("run", index="table", values="rows")

# %% [markdown]
# `load` compared the sha256 of every file with the manifest, so what follows is what the program wrote. Every column explains
# itself; the same words are in `docs/columns.md`. The first few columns of `ratios`, the table that everything begins with:

# %%
results.columns("ratios").select("column", "type", "unit", "meaning").head(12)

# %% [markdown]
# ## The table of ratios
#
# An **empirical ratio** is the cost of a policy's schedule divided by a number that no schedule of the same kind can be below: the
# proven **optimum** where it is known, otherwise the strongest proven **lower bound**. Over an optimum, 1.3 means *30 % above the best
# possible*. Over a lower bound it means *at most 30 % above*, because the optimum may be higher than the bound. The two are never
# averaged together, so that a method has a row for each. (Where an objective is maximised the ratio is optimum over cost, and larger
# is worse as well.)

# %%
table = yr.ratio_table(results.ratios)
shown = ["family", *yr.swept(table), "objective", "method", "count", "denominator", "geo_mean", "median", "worst"]
table.select(shown).with_columns(pl.col("geo_mean", "median", "worst").round(3))

# %% [markdown]
# ## Distributions
#
# One curve per online policy: how large a share of the instances it schedules within the ratio on the horizontal axis. **What to
# see:** the curve that is furthest to the left and top is the best; where it meets the left edge is the share of instances that the
# policy solves optimally; its right end is the policy's worst instance. The axis says what the ratios are over; over a lower bound
# the true ratio is at most this (≤). A panel is a family, and shows the `n` instances on which all its policies have a ratio. With two or three
# instances (the golden results) a distribution is a step or two.

# %%
ratios = yr.with_ratio(results.ratios).filter(
    pl.col("kind") == "online",
    pl.col("ratio").is_not_null(),
    ~pl.col("family").str.starts_with("worst"),  # instances that were hunted: notebook 07
)
groups = yr.groups(ratios, "run", "family", "objective")  # whose methods ran on the same instances
groups = {title: rows for title, rows in groups.items() if rows["instance"].n_unique() > 1}  # one instance has no distribution
if yr.some(pl.DataFrame({"group": list(groups)}), "ratios of online policies on several instances"):
    axes = yr.panels(len(groups))
    for ax, (title, rows) in zip(axes, groups.items()):
        yr.ecdf(yr.common(rows), "ratio", xlabel=f"cost / {yr.over(rows)}", ax=ax, log=True)
        ax.set_title(title)

# %% [markdown]
# ## Performance profile
#
# The same question without a denominator: on how many instances is a policy within a factor of the *best of the policies shown*?
# (Dolan and Moré, 2002.) **What to see:** the height at factor 1 is the share of instances on which the policy is the best of
# them; a profile cannot tell whether even the best one is far from optimal, which is what the figure above is for. All curves of
# a panel are of the same `n` instances: those on which all its policies ran.

# %%
if yr.some(pl.DataFrame({"group": list(groups)}), "ratios of online policies on several instances"):
    axes = yr.panels(len(groups))
    for ax, (title, rows) in zip(axes, groups.items()):
        yr.performance_profile(rows, ax=ax)
        ax.set_title(title)

# %% [markdown]
# ## Against the load
#
# `instances` has what each instance is like: load, gangs, running times and more. **What to see:** whether a policy gets worse as
# jobs come faster than they can be done (an *offered load* above 1). Bursts and elastic jobs have no load, and are left out.

# %%
loaded = yr.common(ratios).join(results.instances.select("run", "instance", "span_s", "gang_mean"), on=["run", "instance"])
loaded = loaded.drop_nulls("offered_load")
if yr.some(loaded, "ratios on instances with a load"):
    groups = yr.groups(loaded, "run", "family", "objective")
    axes = yr.panels(len(groups))
    for ax, (title, rows) in zip(axes, groups.items()):
        yr.scatter(rows, "offered_load", "ratio", "offered load", f"cost / {yr.over(rows)}", ax=ax)
        yr.log_scale(ax)
        yr.log_scale(ax, "y")
        ax.set_title(title)

# %% [markdown]
# ## Down to the jobs
#
# `jobs` has a row per job of every verified schedule, and is joined by run, cell and schedule. **What to see:** how the completion
# times of single jobs are spread on the first instance of each model; two policies of equal total may treat short and long jobs very
# differently.

# %%
first = ratios.group_by("model", maintain_order=True).agg(pl.col("instance").first())["instance"]
chosen = ratios.filter(pl.col("instance").is_in(first.to_list())).drop_nulls("schedule")
jobs = results.jobs.join(chosen.select("run", "cell_id", "schedule", "model", "method").unique(), on=["run", "cell_id", "schedule"])
if yr.some(jobs, "jobs"):
    groups = yr.groups(jobs, "model")
    axes = yr.panels(len(groups))
    for ax, (title, rows) in zip(axes, groups.items()):
        scale, unit = yr.time_unit(rows["jct_s"].median())
        rows = rows.with_columns((pl.col("jct_s") / scale).alias("jct"))
        yr.ecdf(rows, "jct", xlabel=f"job completion time ({unit})", what="jobs", ax=ax, log=True)
        ax.set_title(title)

# %% [markdown]
# ## What could not be done
#
# Failures are rows too. Rows without a cost have no verified schedule; `termination` and `message` say why.

# %%
failed = results.ratios.filter(pl.col("cost").is_null())
failed.select("run", "instance", "method", "termination", "message") if yr.some(failed, "rows without a schedule") else None

# %% [markdown]
# Next: notebooks 02 to 05 follow the papers' figures, one scheduling model each; 06 looks at the lower bounds themselves, and 07
# draws the worst cases.
