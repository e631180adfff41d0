"""Tests of yardstick.results."""

import pathlib
import shutil
import tempfile
import unittest
from fractions import Fraction

try:
    import matplotlib.pyplot as plt
    import polars as pl
    import pyarrow as pa
except ModuleNotFoundError as e:
    raise unittest.SkipTest(f"the Python has not {e.name}: notebooks/requirements.txt") from None
import yardstick.results as yr

GOLDEN = pathlib.Path(__file__).parents[2] / "notebooks" / "golden"


class Loading(unittest.TestCase):
    """What is not what a program wrote is refused, and said to be so."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "gang"
        shutil.copytree(GOLDEN / "gang", self.path)

    def tearDown(self):
        self.folder.cleanup()

    def refuses(self, words, path=None):
        with self.assertRaisesRegex(yr.ResultError, words):
            yr.load(path or self.path)

    def change(self, name, old, new):
        data = (self.path / name).read_bytes()
        self.assertIn(old, data)
        (self.path / name).write_bytes(data.replace(old, new, 1))

    def test_intact(self):
        self.assertEqual(list(yr.load(self.path).runs), ["gang"])
        self.assertEqual(list(yr.load(self.path.parent).runs), ["gang"])

    def test_runs_of_one_name(self):
        other = pathlib.Path(self.folder.name) / "later" / "gang"
        shutil.copytree(self.path, other)
        both = yr.read_runs(self.path, pathlib.Path(self.folder.name) / "lat*" / "*")
        self.assertEqual(list(both.runs), [f"{self.path.parent.name}/gang", "later/gang"])
        self.assertEqual(both.ratios["run"].n_unique(), 2)
        self.assertEqual(list(yr.read_runs(self.path, self.path).runs), ["gang"])

    def test_runs_of_other_schemas(self):
        both = yr.read_runs(GOLDEN / "*")
        self.assertEqual(len(both.ratios), sum(len(yr.load(GOLDEN / name).ratios) for name in both.runs))
        swept = both.ratios.filter(pl.col("run") == "models")[yr.swept(both.ratios)]  # that only gang sweeps
        self.assertTrue(all(column.is_null().all() for column in swept))
        with self.assertRaisesRegex(yr.ResultError, "matches no result directory"):
            yr.read_runs(GOLDEN / "none*")

    def test_features_of_instances(self):
        results = yr.load(GOLDEN)
        joined = results.ratios.join(results.instances, on=["run", "instance"], suffix="_of_instance")
        self.assertEqual(len(joined), len(results.ratios))
        for column in ("jobs", "gpus", "offered_load", "instance_sha256"):
            self.assertTrue(joined[column].eq_missing(joined[column + "_of_instance"]).all(), column)

    def test_no_manifest(self):
        (self.path / "manifest.json").unlink()
        self.refuses("no manifest.json")

    def test_changed_table(self):
        self.change("ratios.arrow", b"exhaustive", b"exhaustivE")
        self.refuses("ratios.arrow is not the file that the manifest lists")

    def test_changed_manifest(self):
        self.change("manifest.json", b'"workers": ', b'"workers": 1')
        self.refuses("manifest.json is not the file that was written")

    def test_other_version(self):
        self.change("manifest.json", b'"format_version": 1', b'"format_version": 2')
        self.refuses("format_version is 2")

    def test_missing_table(self):
        (self.path / "jobs.arrow").unlink()
        with self.assertRaises(FileNotFoundError):
            yr.load(self.path)

    def test_table_of_another_run(self):
        other = yr.load(GOLDEN / "models").runs["models"].tables["jobs"]
        with self.assertRaisesRegex(yr.ResultError, "another run"):
            yr._check_table(self.path, other, other.num_rows, "0" * 32)

    def test_other_schema(self):
        table = yr.load(self.path).runs["gang"].tables["jobs"]
        about = {**table.schema.metadata, b"bench.schema_version": b"2"}
        plan = about[b"bench.plan_id"].decode()
        with self.assertRaisesRegex(yr.ResultError, "schema_version is 2"):
            yr._check_table(self.path, table.replace_schema_metadata(about), table.num_rows, plan)
        with self.assertRaisesRegex(yr.ResultError, "rows"):
            yr._check_table(self.path, table, table.num_rows + 1, plan)
        encoded = table.set_column(0, "cell_id", table["cell_id"].dictionary_encode())
        with self.assertRaisesRegex(yr.ResultError, "cell_id has the type dictionary"):
            yr._check_table(self.path, encoded, table.num_rows, plan)


class Tables(unittest.TestCase):
    def setUp(self):
        self.results = yr.load(GOLDEN)

    def test_stacked(self):
        for name in yr.TABLES:
            frame = self.results.table(name)
            self.assertEqual(len(frame), sum(run.tables[name].num_rows for run in self.results.runs.values()))
            self.assertEqual(frame.columns[0], "run")
            self.assertFalse(any(frame[c].is_nan().any() for c in frame.columns if frame[c].dtype == pl.Float64))
        with self.assertRaises(yr.ResultError):
            self.results.table("nonsense")

    def test_every_column_is_explained(self):
        for name in yr.TABLES:
            self.assertEqual(self.results.columns(name)["meaning"].null_count(), 0)

    def test_ratios_are_those_of_the_exact_values(self):
        proven = self.results.ratios.filter(pl.col("ratio_to_optimum").is_not_null())
        self.assertGreater(len(proven), 30)
        for row in proven.iter_rows(named=True):
            cost, optimum = Fraction(row["cost_exact"]), Fraction(row["optimum_exact"])
            ratio = cost / optimum if row["sense"] == "min" else optimum / cost
            self.assertGreaterEqual(ratio, 1)
            self.assertEqual(float(ratio), row["ratio_to_optimum"])

    def test_with_ratio(self):
        frame = pl.DataFrame({"ratio_to_optimum": [1.5, None, None], "ratio_to_lower_bound": [1.7, 2.0, None]})
        frame = yr.with_ratio(frame)
        self.assertEqual(frame["ratio"].to_list(), [1.5, 2.0, None])
        self.assertEqual(frame["denominator"].to_list(), ["optimum", "lower bound", "none"])

    def test_with_setting(self):
        found = yr.with_setting(self.results, self.results.ratios, "sharing.xi").drop_nulls("sharing.xi")
        self.assertEqual(set(found["family"]), {"sharing-xi-1", "sharing-xi-2"})
        found = yr.with_setting(self.results, self.results.ratios, "cluster.inter").filter(pl.col("run") == "gang")
        self.assertEqual(found["cluster.inter"].to_list(), found["p_cluster_inter"].to_list())

    def test_vary(self):
        frame = yr.vary(self.results.ratios, "p_cluster_inter")
        self.assertEqual(frame["p_cluster_inter"].n_unique(), 2)
        self.assertEqual(frame["p_slice_jobs"].n_unique(), 1)

    def test_natural(self):
        speeds, times = ["50Gbps", "1Gbps", "900Mbps", "10Gbps"], ["1m40s", "3s", "1h", "100ms", "2m"]
        self.assertEqual(sorted(speeds, key=yr.natural), ["900Mbps", "1Gbps", "10Gbps", "50Gbps"])
        self.assertEqual(sorted(times, key=yr.natural), ["100ms", "3s", "1m40s", "2m", "1h"])
        self.assertEqual(sorted([10.0, 9.5, "nothing"], key=yr.natural), [9.5, 10.0, "nothing"])

    def test_exact(self):
        self.assertEqual(yr.exact(pl.Series(["7/2", None, "3"])), [Fraction(7, 2), None, Fraction(3)])

    def test_time_unit(self):
        self.assertEqual([yr.time_unit(s)[1] for s in (1e-6, 0.01, 5, 200, 20000, 1e6)], ["µs", "ms", "s", "min", "h", "d"])


class Plots(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_ecdf_counts_failures(self):
        frame = pl.DataFrame({"method": ["a", "a", "a", "a"], "ratio": [1.0, 2.0, 1.5, None]})
        x, y = yr.ecdf(frame, "ratio", "ratio").lines[0].get_data()
        self.assertEqual(list(x), [1.0, 1.0, 1.5, 2.0])
        self.assertEqual(list(y), [0.0, 0.25, 0.5, 0.75])

    def test_profile(self):
        frame = pl.DataFrame({
            "run": "r", "objective": "o", "instance": ["i", "i", "j", "j"], "method": ["a", "b", "a", "b"],
            "sense": ["min", "min", "max", "max"], "cost": [2.0, 3.0, 5.0, 4.0],
        })  # fmt: skip
        a, b = yr.performance_profile(frame).lines
        self.assertEqual(list(a.get_xdata()), [1.0, 1.0, 1.0])
        self.assertEqual(list(b.get_xdata()), [1.25, 1.25, 1.5])

    def test_gantt_fits_the_cluster(self):
        """Where GPUs are exclusive no server needs more rows than it has GPUs, and
        no two bars of a row overlap."""
        results = yr.load(GOLDEN)
        gang = results.ratios.filter(pl.col("model") == "gang").drop_nulls("schedule")
        for row in gang.unique(["run", "cell_id", "schedule"], maintain_order=True).head(25).iter_rows(named=True):
            segments = results.segments.filter(*(pl.col(c) == row[c] for c in ("run", "cell_id", "schedule")))
            ax = yr.gantt(segments, row["servers"], row["gpus"])
            bars = sorted((round(p.get_y(), 6), p.get_x(), p.get_x() + p.get_width()) for p in ax.patches)
            self.assertLessEqual(len({y for y, _, _ in bars}), row["gpus"], row["instance"])
            self.assertEqual(len(bars), segments["gpus"].sum())
            for (y, _, end), (lane, start, _) in zip(bars, bars[1:]):
                self.assertTrue(lane > y or start >= end - 1e-9 * abs(end), row["instance"])
            plt.close("all")



def rows(costs, **more):
    """Ratio rows of methods on instances i0, i1, …: None where there is none."""
    table = []
    for method, values in costs.items():
        for i, (cost, optimum, bound) in enumerate(values):
            if cost is None:
                continue
            table.append(
                dict(
                    run="r", instance=f"i{i}", objective="total-jct", sense="min", method=method, cost=cost,
                    ratio_to_optimum=cost / optimum if optimum else None, ratio_to_lower_bound=cost / bound if bound else None, **more,
                )
            )  # fmt: skip
    return pl.DataFrame(table, infer_schema_length=None)


class Comparisons(unittest.TestCase):
    """Methods are compared on the same instances, and means over bounds say so."""

    # On i0 the optimum is known, on i1 and i2 a bound. `lucky` ran on i0 alone, where
    # it is best; `steady` is best on both others.
    costs = {
        "steady": [(3.0, 2.0, 2.0), (4.0, None, 2.0), (4.0, None, 2.0)],
        "other": [(4.0, 2.0, 2.0), (8.0, None, 2.0), (16.0, None, 2.0)],
        "lucky": [(2.0, 2.0, 2.0), (None, None, None), (None, None, None)],
    }

    def test_common(self):
        self.assertEqual(sorted(yr.common(rows(self.costs))["instance"]), ["i0"] * 3)

    def test_profile_is_of_the_same_instances(self):
        shown = yr.profile(rows(self.costs))
        self.assertEqual(dict(zip(shown["method"], shown["factor"])), {"steady": 1.5, "other": 2.0, "lucky": 1.0})
        both = yr.profile(rows({k: v for k, v in self.costs.items() if k != "lucky"}))
        self.assertEqual(both.filter(pl.col("method") == "other")["factor"].to_list(), [4 / 3, 2.0, 4.0])

    def test_profile_counts_failures(self):
        frame = rows(self.costs).filter(pl.col("method") != "lucky")
        frame = frame.with_columns(pl.when(pl.col("instance") == "i1", pl.col("method") == "other").then(None).otherwise("cost").alias("cost"))
        shown = yr.profile(frame)
        self.assertEqual(shown["method"].value_counts()["count"].to_list(), [3, 3])
        self.assertEqual(shown["factor"].null_count(), 1)

    def test_legend_says_how_many(self):
        ax = yr.performance_profile(rows(self.costs))
        self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()], ["steady (n=1)", "other (n=1)", "lucky (n=1)"])
        plt.close(ax.figure)

    def test_means_are_of_the_same_instances(self):
        means = yr.mean_ratios(rows(self.costs))
        self.assertEqual(means.rows(), [("steady", 1.5, 1, ""), ("other", 2.0, 1, ""), ("lucky", 1.0, 1, "")])

    def test_means_over_bounds_say_so(self):
        means = yr.mean_ratios(rows({k: v for k, v in self.costs.items() if k != "lucky"}))
        self.assertEqual(means["sign"].to_list(), ["≤", "≤"])
        self.assertEqual(means["instances"].to_list(), [3, 3])
        self.assertAlmostEqual(means["ratio"][1], (2.0 * 4.0 * 8.0) ** (1 / 3))

    def test_bars_over_a_wide_range_are_points(self):
        near = yr.bars(pl.DataFrame({"method": ["a", "b"], "x": [1.0, 20.0]}), "x", "x")
        self.assertEqual((near.get_xscale(), len(near.patches)), ("linear", 2))
        far = yr.bars(pl.DataFrame({"method": ["a", "b"], "x": [1.0, 21.0]}), "x", "x")
        self.assertEqual((far.get_xscale(), len(far.patches)), ("log", 0))
        none = yr.bars(pl.DataFrame({"method": ["a", "b"], "x": [0.0, 21.0]}), "x", "x")  # 0 has no logarithm
        self.assertEqual((none.get_xscale(), len(none.patches)), ("linear", 2))
        plt.close("all")

    def test_bars_over_bounds_say_so(self):
        ax = yr.ratio_bars(rows({k: v for k, v in self.costs.items() if k != "lucky"}))
        self.assertTrue(all(t.get_text().startswith("≤") for t in ax.texts))
        self.assertEqual(ax.get_xlabel(), "cost / optimum or lower bound (≤),\ngeometric mean (n=3 common instances)")
        plt.close(ax.figure)

    def test_sweep_is_of_the_same_instances(self):
        frame = yr.with_ratio(rows(self.costs, p_x=1))
        ax = yr.sweep(frame, "p_x", "ratio", "x", "y")
        self.assertEqual([list(line.get_ydata()) for line in ax.get_lines()], [[1.5], [2.0], [1.0]])
        plt.close(ax.figure)


if __name__ == "__main__":
    unittest.main()
