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
# # Lower bounds: which is best, how tight, and what theorems leave
#
# A ratio is as good as its denominator. This notebook asks of the bounds what the others ask of the policies: which bound is strongest on
# which instances, how far it is from the optimum where that is known, what it costs, and how much of what the theorems allow is ever
# used. `docs/bounds.md` proves the bounds, `docs/theorems.md` the theorems.

# %%
import matplotlib.pyplot as plt
import polars as pl
from IPython.display import display

import yardstick.results as yr

results = yr.load()
pl.Config.set_tbl_rows(60)
pl.Config.set_tbl_cols(20)
pl.Config.set_fmt_str_lengths(40)

# %% [markdown]
# A bound that is proven for one class of schedules bounds those of every class below it (`docs/classes.md`). A bound may be compared with
# the optimum of class X only if X reaches the bound's class:

# %%
EDGES = {
    "N": "P S", "P": "P0", "P0": "F(1) SP0", "S": "SP0", "SP0": "F(Theta)", "F(1)": "F(Theta)", "E": "EP", "EP": "F(min)", "M": "F(min)"
}  # fmt: skip


def reaches(x: str, y: str) -> bool:
    """Whether what bounds schedules of class y bounds those of class x."""
    if x == y:
        return True
    slotted = x.endswith("s")
    above = EDGES.get(x.removesuffix("s"), "").split()
    return any(reaches(a + ("s" if slotted else ""), y) for a in above) or (slotted and reaches(x.removesuffix("s"), y))


bounds = results.bounds.filter(pl.col("value").is_not_null(), pl.col("side") == "lower")
instances = results.ratios.filter(~pl.col("family").str.starts_with("worst"))  # those were hunted: notebook 07
instances = instances.select("run", "instance", "objective", "family", "model", "jobs").unique(["run", "instance", "objective"])
exact = results.ratios.filter(pl.col("optimum").is_not_null(), pl.col("kind") != "online").unique(["run", "instance", "objective", "class"])
exact = exact.select("run", "instance", "objective", "class", "optimum", "gpu_utilization")
pairs = bounds.join(instances, on=["run", "instance", "objective"]).join(exact, on=["run", "instance", "objective"], suffix="_optimum")
pairs = pairs.filter(
    pl.struct("class_optimum", "class").map_elements(lambda p: reaches(p["class_optimum"], p["class"]), return_dtype=pl.Boolean)
).with_columns((pl.col("value") / pl.col("optimum")).alias("tightness"))

# %% [markdown]
# ## Which bound is best where
#
# Per model and family: on how many instances each bound is the strongest of those computed for its class (ties count for all).
# **What to see:** no bound wins everywhere: `lb0` (every job alone on its best placement) wins where jobs seldom meet; bounds that know
# of the load win where they do. A suite should list several.

# %%
if yr.some(bounds, "lower bounds"):
    key = ["run", "instance", "objective", "class"]
    best = bounds.with_columns((pl.col("value") == pl.col("value").max().over(key)).alias("best"))
    best = best.join(instances, on=["run", "instance", "objective"])
    shown = best.group_by("model", "family", "class", "bound", maintain_order=True).agg(
        pl.len().alias("instances"),
        pl.col("best").sum().alias("strongest on"),
        (1e3 * pl.col("wall_s").median()).round(3).alias("time, median (ms)"),
    )
    display(shown)

# %% [markdown]
# ## Tightness
#
# Bound over optimum, where the optimum is proven. **What to see:** a curve hugging the right edge is a tight bound; nothing may ever be
# right of 1 (the cell checks it).

# %%
def several(rows):
    """The rows of each family and objective, where there are several instances."""
    return {title: rows for title, rows in yr.groups(rows, "run", "family", "objective").items() if rows["instance"].n_unique() > 1}


if yr.some(pairs, "bounds beside proven optima"):
    assert pairs["tightness"].max() <= 1, "a bound above a proven optimum"
    panels = several(pairs)
    axes = yr.panels(len(panels))
    for ax, (title, rows) in zip(axes, panels.items()):
        yr.ecdf(yr.common(rows, "bound"), "tightness", xlabel="bound / optimum", by="bound", ax=ax)
        ax.set_title(title)

# %% [markdown]
# ## Tightness against load
#
# The same, against how busy the *optimal* schedule keeps the GPUs. **What to see:** bounds are tightest where there is little to decide,
# at low utilisation; how fast they fall towards the right is what tells them apart.

# %%
loaded = pairs.drop_nulls("gpu_utilization")
if yr.some(loaded, "bounds beside optima with a known utilisation"):
    panels = several(loaded)
    axes = yr.panels(len(panels))
    for ax, (title, rows) in zip(axes, panels.items()):
        yr.scatter(rows.with_columns(pl.col("gpu_utilization") * 100), "gpu_utilization", "tightness", "GPU utilisation of the optimal schedule (%)", "bound / optimum", by="bound", ax=ax)
        ax.set_title(title)

# %% [markdown]
# ## Where there is no optimum
#
# The best verified schedule over the strongest bound: the optimum is somewhere in between. **What to see:** the interval left open per
# family; a ratio there overstates by at most this factor.

# %%
undecided = results.ratios.filter(pl.col("optimum").is_null(), pl.col("lower_bound") > 0, pl.col("best_known").is_not_null())
undecided = undecided.with_columns((pl.col("best_known") / pl.col("lower_bound")).alias("gap"))
undecided = undecided.group_by("run", "model", "family", "instance", "objective", "class", maintain_order=True).agg(
    pl.col("gap").first(), pl.col("lower_bound_method").first()
)
if yr.some(undecided, "instances without a proven optimum"):
    display(undecided.with_columns(pl.col("gap").round(3)))
    yr.ecdf(undecided, "gap", xlabel="best known cost / strongest lower bound", by="model")

# %% [markdown]
# ## Theorem slack
#
# Every published inequality about A-SRPT, and every corrected or sharper form of it, is evaluated on each run. The plot shows its left
# side as a share of its right side. **What to see:** at 1 a statement is attained on that run, and far below it allows much more than
# happens. Printed forms are often vacuous (the right side is infinite) or off by orders of magnitude; the sharp forms and the
# certificates of a run are what comes close. A share above 1 would be a violation.

# %%
used = results.theorems.filter(pl.col("left_s").is_not_null(), pl.col("right_s") > 0).with_columns(
    (pl.col("left_s") / pl.col("right_s")).alias("share"), pl.concat_str(["theorem", "form"], separator=", ").alias("statement")
)
if yr.some(used, "evaluated theorems"):
    statements = sorted(yr.names(used, "statement"))
    figure, ax = plt.subplots(figsize=(8, 0.6 + 0.32 * len(statements)), layout="constrained")
    for y, statement in enumerate(statements):
        values = used.filter(pl.col("statement") == statement)["share"].to_list()
        ax.scatter(values, [y] * len(values), s=14, alpha=0.6, color="tab:blue")
    ax.axvline(1, color="grey", linewidth=0.8)
    ax.set_yticks(range(len(statements)), statements)
    ax.set(xscale="log", xlabel="left side / right side (1: attained)", ylabel="statement, form")
    ax.invert_yaxis()

# %%
if yr.some(results.theorems, "evaluated theorems"):
    verdicts = results.theorems.group_by("theorem", "form", "verdict").agg(pl.len().alias("runs"))
    display(verdicts.pivot("verdict", index=["theorem", "form"], values="runs").sort("theorem", "form"))

# %% [markdown]
# ## What a solver does over time
#
# `events` has a row whenever the incumbent or the bound of a solve changed. **What to see:** the two lines close in on the optimum; many
# solves find it early and spend the rest of the time on proving it.

# %%
events = results.events.sort("run", "cell_id", "objective", "solve", "event")
if yr.some(events, "solver events"):
    events = events.filter(pl.len().over("run", "cell_id", "objective", "solve") > 1)  # others have their end alone
    panels = list(yr.groups(events, "run", "cell_id", "objective", "solve").values())
    panels = sorted(panels, key=len, reverse=True)[:3]
    solver = results.solves.select("run", "cell_id", "objective", "solve", "formulation", "solver")
    axes = yr.panels(len(panels))
    for ax, rows in zip(axes, panels):
        about = rows.head(1).join(solver, on=["run", "cell_id", "objective", "solve"], how="left").row(0, named=True)
        last = rows["primal_bound"].drop_nulls().last()
        scale, unit = yr.time_unit(rows["time_s"].max())
        for column, label in (("primal_bound", "incumbent"), ("dual_bound", "bound")):
            ax.step(rows["time_s"] / scale, 100 * rows[column] / last, where="post", marker=".", label=label)
        ax.set(xlabel=f"time since the solve began ({unit})", ylabel="objective / last incumbent (%)")
        ax.set_title(f"{about['formulation']}, {about['solver']}: {about['instance']}", fontsize=9)
        ax.legend(fontsize=8)
