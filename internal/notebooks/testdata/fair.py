"""Runs every notebook on the golden results less most rows of one method of every
family, and less the optimum of every other instance: no figure may compare methods
on different numbers of instances, nor show a ratio over a bound without ≤."""

import contextlib
import io
import pathlib
import re
import runpy

import matplotlib.pyplot as plt
import polars as pl
import yardstick.results as yr

load = yr.load


def partial(path=None):
    """The golden results, in which the last method of every family has rows of its
    first instance alone, and odd instances have no optimum."""
    results = load(path)
    rows = results.ratios
    families = ["run", "family"]
    online = rows.filter(pl.col("kind") == "online")
    last = online.group_by(families, maintain_order=True).agg(pl.col("method").last().alias("rare"), pl.col("instance").first().alias("only"))
    rows = rows.join(last, on=families, how="left", maintain_order="left")
    rows = rows.filter(pl.col("method").ne_missing(pl.col("rare")) | (pl.col("instance") == pl.col("only"))).drop("rare", "only")
    odd = pl.col("instance").str.contains("[13579]( |$)")
    hidden = [pl.when(odd).then(None).otherwise(c).alias(c) for c in ("optimum", "ratio_to_optimum")]
    bound = pl.coalesce("ratio_to_lower_bound", "ratio_to_optimum").alias("ratio_to_lower_bound")
    results._frames["ratios"] = rows.with_columns(bound, *hidden)
    return results


def main():
    plt.rcParams["figure.max_open_warning"] = 0
    yr.load = partial
    compared, bounded = 0, 0
    for path in sorted(pathlib.Path(__file__).parents[3].joinpath("notebooks").glob("[0-9]*.py")):
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(path))
        for number in plt.get_fignums():
            for ax in plt.figure(number).axes:
                where = f"{path.name}: {ax.get_title()}: {ax.get_xlabel()}: {ax.get_ylabel()}"
                legend = [t.get_text() for t in ax.get_legend().get_texts()] if ax.get_legend() else []
                sizes = {m[1] for m in (re.search(r"\(n=(\d+)\)$", t) for t in legend) if m}
                if ax.get_xlabel() == "best known cost / strongest lower bound":
                    continue  # compares models, each on its own instances
                assert len(sizes) <= 1, f"{where}: methods on different numbers of instances: {legend}"
                compared += len(sizes)
                labels = ax.get_xlabel() + ax.get_ylabel()
                if "lower bound" in labels and "bound /" not in labels:
                    assert "≤" in labels, f"{where}: ratios over bounds without ≤"
                    bounded += 1
        plt.close("all")
    assert compared > 10 and bounded > 3, f"only {compared} axes compare methods, {bounded} show bounds"
    print(f"{compared} axes compare methods, {bounded} show ratios over bounds")


main()
