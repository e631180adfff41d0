"""Scoring schedules that something else made: as bench says, from files and from rows."""

import json
import pathlib
import subprocess
import tempfile
import unittest
from fractions import Fraction

import yardstick
from yardstick.program import find_bench

JOBS = [
    {"job": "a", "submit": 0, "gpus": 4, "duration": 100},
    {"job": "b", "submit": 1, "gpus": 4, "duration": 1000},
    {"job": "c", "submit": 2, "gpus": 2, "duration": 10},
]
DONE = [{"job": "a", "start": 0, "end": 100}, {"job": "c", "start": 100, "end": 110}, {"job": "b", "start": 110, "end": 1110}]


def table(rows):
    return "".join(",".join(str(v) for v in line) + "\n" for line in [rows[0].keys(), *(r.values() for r in rows)])


class Score(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.jobs, self.done = self.folder / "jobs.csv", self.folder / "done.csv"
        self.jobs.write_text(table(JOBS))
        self.done.write_text(table(DONE))

    def test_as_bench_says(self):
        said = subprocess.run([find_bench(), "score", self.jobs, self.done, "--gpus", "4", "--objective", "all", "--report", "json"], check=True, capture_output=True, text=True)
        expected = [(r["objective"], r["cost_exact"], r["bound_exact"], r["by"]) for r in json.loads(said.stdout)]
        self.assertEqual(len(expected), 5)
        for jobs, done in ((self.jobs, str(self.done)), (JOBS, DONE), (self.jobs, DONE)):
            found = yardstick.score(jobs, done, gpus=4, objective="all")
            self.assertEqual([(r.objective, str(r.cost), str(r.bound), r.bound_by) for r in found.rows], expected)
        self.assertEqual((found.valid, found.evidence, found.execution_class, found.jobs, found.left_out), (True, "intervals", "N", 3, ""))

    def test_the_ratio_of_the_optimum(self):
        """By hand: a to 100, c to 110, b to 1110; 1317 s in all. No order is better, and no bound is above."""
        found = yardstick.score(JOBS, DONE, gpus=4, every_bound=True)
        self.assertEqual(found.rows[0].cost, 1_317_000_000)
        self.assertGreater(len(found.rows), 1)
        for row in found.rows:
            self.assertLessEqual(row.bound, row.cost, row)
        best = yardstick.score(JOBS, DONE, gpus=4)
        self.assertEqual(best.ratio, float(Fraction(1_317_000_000) / max(r.bound for r in found.rows)))
        self.assertGreaterEqual(best.ratio, 1)
        makespan, total = yardstick.score(JOBS, DONE, gpus=4, objective=["makespan", "total-jct"]).rows
        self.assertEqual((makespan.objective, makespan.cost, total.ratio), ("makespan", 1_110_000_000, best.ratio))

    def test_violations(self):
        for change, rule in (({"end": 1050}, "length"), ({"start": 50, "end": 1050}, "capacity"), ({"start": 0, "end": 1000}, "release")):
            found = yardstick.score(JOBS, [*DONE[:2], {**DONE[2], **change}], gpus=4)
            self.assertIn((rule, "b"), {(v.rule, v.job) for v in found.violations}, change)
            self.assertEqual((found.valid, found.ratio, found.rows), (False, None, ()))

    def test_options(self):
        short = [*DONE[:2], {"job": "b", "start": 110, "end": 1109.5}]
        self.assertFalse(yardstick.score(JOBS, short, gpus=4).valid)
        self.assertTrue(yardstick.score(JOBS, short, gpus=4, tolerance=1).valid)
        self.assertTrue(yardstick.score(JOBS, short, gpus=4, lengths="recorded").valid)
        self.assertEqual(yardstick.score(JOBS, DONE, gpus=4, evidence="completions").execution_class, "F(1)")
        self.assertTrue(yardstick.score(JOBS, DONE, gpus="from-log").valid)
        self.assertTrue(yardstick.score(JOBS, DONE, servers=2, gpus_per_server=2).valid)
        late = [{"job": d["job"], "begin": d["start"], "finished_at": 1000 * d["end"]} for d in DONE]
        self.assertEqual(yardstick.score(JOBS, late, gpus=4, columns={"start": "begin", "end": "finished_at:ms"}), yardstick.score(JOBS, DONE, gpus=4))
        alone = [{**d, "submit": j["submit"], "gpus": j["gpus"]} for d in DONE for j in JOBS if j["job"] == d["job"]]
        self.assertEqual(yardstick.score(None, alone, gpus=4).rows, yardstick.score(JOBS, DONE, gpus=4).rows)
        left = yardstick.score(JOBS, DONE[:2], gpus=4, ignore=["missing"])
        self.assertEqual((left.valid, left.jobs), (True, 2))
        self.assertIn("1 ", left.left_out)

    def test_refused(self):
        for options, words in (({}, "which cluster"), ({"gpus": 0}, "--gpus"), ({"gpus": 4, "objective": "speed"}, "--objective"), ({"gpus": 4, "format": "seven"}, "format")):
            with self.assertRaisesRegex(yardstick.BenchError, words):
                yardstick.score(JOBS, DONE, **options)
        with self.assertRaisesRegex(yardstick.BenchError, "none.csv"):
            yardstick.score(self.jobs, self.folder / "none.csv", gpus=4)

    def test_schedules_of_bench(self):
        instance = yardstick.instance(self.folder / "a.json", "builtin:philly-like", {"slice.jobs": 3, "cluster.servers": 2, "cluster.gpusPerServer": 8, "tooLarge": "drop"})
        schedule = self.folder / "schedule.json"
        subprocess.run([find_bench(), "simulate", instance, "--policy", "fifo", "--schedule", schedule], check=True, capture_output=True)
        found = yardstick.score(instance, schedule)
        self.assertEqual((found.evidence, found.execution_class, found.jobs), ("placements", "N", 3))
        self.assertGreaterEqual(found.ratio, 1)
        claimed = json.loads(schedule.read_text())
        claimed["segments"] = claimed["segments"][:1]
        with self.assertRaisesRegex(yardstick.BenchError, "seal"):  # it was changed since bench wrote it
            schedule.write_text(json.dumps(claimed))
            yardstick.score(instance, schedule)
        schedule.write_text(json.dumps({k: v for k, v in claimed.items() if k != "seal"}))
        self.assertFalse(yardstick.score(instance, schedule).valid)


if __name__ == "__main__":
    unittest.main()
