"""Running and judging policies through bench: what is believed, and what is not."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import yardstick
from yardstick.program import call
from yardstick.suites import Command, _score

ALL = bool(os.environ.get("YARDSTICK_ALL"))  # more of the same, and what is long
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
FIFO = EXAMPLES / "fifo.py"

SUITE = """\
apiVersion: yardstick/v1
name: tiny
instances:
  - name: few
    trace: builtin:helios-earth?jobs=2000&seed=1
    slice: {jobs: 6, at: busiest, load: 1..4, repeat: 2}
    cluster: {servers: 1, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
objectives: [total-jct]
methods: [fifo]
references: [exhaustive]
"""


class Shortest(yardstick.Policy):
    """Shortest first, which needs a predictor."""

    def decide(self, view):
        jobs = sorted(view.waiting, key=lambda job: job.duration)
        return yardstick.Decision([job for job in jobs if view.take(job)])


def in_order(view):
    """First in, first out, as a function."""
    start = []
    for job in view.waiting:
        if not view.take(job):
            break
        start.append(job)
    return yardstick.Decision(start)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.suite = self.write("suite.yaml", SUITE)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path


class Evaluate(Folder):
    def evaluate(self, candidate, **options):
        result = yardstick.evaluate(candidate, self.suite, **options)
        json.dumps(result, allow_nan=False)  # as searches keep it
        self.assertEqual("error" in result, not result["valid"])
        self.assertEqual(result["combined_score"] > 0, result["valid"])
        if result["valid"]:
            self.assertAlmostEqual(result["combined_score"] * result["ratio"], 1)
            self.assertLessEqual(result["combined_score"], 1)
            self.assertGreaterEqual(min(r["ratio"] for r in result["rows"]), 1)
        else:
            self.assertEqual((result["ratio"], result["combined_score"]), (None, 0.0))
            self.assertNotIn("\n", result["error"])
        return result

    def test_as_bench_says(self):
        """A candidate that is bench's policy has the rows of bench's policy."""
        def rows(candidate, **options):
            return [(r["instance"], r["cost"], r["denominator"], r["denominator_value"], r["ratio"]) for r in self.evaluate(candidate, **options)["rows"]]

        fifo = rows("fifo")
        self.assertEqual(len(fifo), 2)
        self.assertEqual({r[2] for r in fifo}, {"optimum"})
        for candidate in (FIFO, str(FIFO), in_order)[: 3 if ALL else 1]:
            self.assertEqual(rows(candidate), fifo)
        shortest = rows("sjf(blocking=skip)")
        self.assertNotEqual(shortest, fifo)
        for candidate in (Shortest, Shortest(), Command("python3 lists.py sjf skip", [EXAMPLES / "lists.py"]))[: 3 if ALL else 1]:
            self.assertEqual(rows(candidate, predictor="perfect"), shortest)

    def test_however_it_is_named(self):
        """A candidate is found by any path: a link, a relative one, one with a space, a command that names it."""
        want = self.evaluate("fifo")["rows"]
        spaced = self.write("my fifo.py", FIFO.read_text())
        link = self.folder / "link.py"
        link.symlink_to(FIFO)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        plain = EXAMPLES / "lists.py"
        (self.folder / "plain.py").symlink_to(plain)
        forms = [link, "my fifo.py", Command("python3 plain.py fifo strict", ["plain.py"]), Command(f"python3 {plain} fifo strict"),
                 "./link.py", spaced, os.path.relpath(FIFO), Command("python3 plain.py fifo strict"), Command("python3 x.py fifo strict", [])]
        for form in forms[:-1] if ALL else forms[:3]:
            self.assertEqual([r["cost"] for r in self.evaluate(form)["rows"]], [r["cost"] for r in want], form)
        self.assertIn("there is no file x.py", self.evaluate(forms[-1])["error"])

    def fails(self, text, words, **options):
        result = self.evaluate(self.write("candidate.py", "import yardstick\n" + textwrap.dedent(text)), **options)
        self.assertFalse(result["valid"])
        self.assertRegex(result["error"], words)
        return result

    def test_candidates_that_fail(self):
        self.fails("def decide(view): 1 / 0", r"^few/00: .*ZeroDivisionError: division by zero \(candidate.py line 2\)")
        self.fails("def decide(view)", "SyntaxError")

    @unittest.skipUnless(ALL, "more of the same")
    def test_more_candidates_that_fail(self):
        self.fails("", "defines no policy")
        self.fails("def decide(view): return yardstick.Decision()", "stalled")
        self.fails("def decide(view):\n    while True: pass", "limit|time", timeout=1)
        self.fails("import no_such_module", "No module named 'no_such_module'")
        self.fails("def decide(view): return yardstick.Decision(wake=-1)", "woken")
        self.fails("def decide(view): return yardstick.Decision([99])", "does not wait")
        self.fails("import os\nos.write(1, b'{}\\n')\ndef decide(view): ...", "class|name|hello")
        self.fails("def decide(view): raise SystemExit(0)", "ended|closed|exit")

    def test_what_it_says_of_itself_is_not_believed(self):
        honest = self.evaluate(FIFO)
        patched = self.write("patched.py", f"""
            import json, sys
            import yardstick, yardstick.suites, yardstick.protocol
            yardstick.evaluate = yardstick.suites.evaluate = lambda *a, **k: {{"valid": True, "ratio": 0.1, "combined_score": 10.0, "rows": []}}
            yardstick.suites._score = yardstick.evaluate
            makespan, combined_score, validity = 0, 10.0, 1.0
            {FIFO.read_text().split('import yardstick')[1].split('if __name__')[0].replace(chr(10), chr(10) + ' ' * 12)}
            """)
        self.assertEqual(self.evaluate(patched)["rows"], honest["rows"])

    def test_another_process(self):
        """The candidate cannot reach this process, nor the files of this user's tests."""
        mark = self.folder / "mark"
        result = self.evaluate(self.write("writes.py", f"""
            import os, sys, yardstick
            try:
                open({str(mark)!r}, "w").write(str(os.getpid()))
            except OSError:
                pass
            yardstick.evaluated = True
            def decide(view):
                return yardstick.Decision([j for j in view.waiting if view.take(j)])
            """))
        self.assertTrue(result["valid"], result)
        self.assertFalse(hasattr(yardstick, "evaluated"))
        self.assertFalse(mark.exists() and mark.read_text() == str(os.getpid()))

    def test_no_denominator(self):
        self.suite.write_text(SUITE.replace("[exhaustive]", "[]"))
        result = self.evaluate(FIFO)
        self.assertEqual((result["valid"], result["error"][:13]), (False, "few/00: no op"))

    def test_some_instance_fails(self):
        """One failure is enough, however good the rest is."""
        group = lambda *rows: {"groups": [{"family": "f", "objective": "total-jct", "methods": [{"method": "m", "kind": "online"}, {"method": "x", "kind": "exact"}], "details": list(rows)}]}
        good = {"instance": "a", "method": "m", "cost": 4, "ratio": 2.0, "denominator": "optimum", "denominator_value": 2, "termination": "COMPLETED"}
        lost = {"instance": "b", "method": "m", "cost": None, "ratio": None, "termination": "CRASHED", "message": "it died"}
        exact = {"instance": "b", "method": "x", "cost": 2, "ratio": 1.0}
        self.assertEqual(_score(group(good, {**good, "ratio": 8.0}, exact), 0, "")["ratio"], 4)
        self.assertEqual(_score(group(good, lost), 3, "")["error"], "b: it died")
        self.assertEqual(_score(group(good), 5, "bench: 1 invalid schedule\n")["error"], "bench: 1 invalid schedule")
        self.assertEqual(_score(group(), 0, "")["error"], "the suite has no instance")

    def test_fresh(self):
        known = self.evaluate("fifo")
        self.assertFalse(known["fresh"])
        drawn = [self.evaluate(FIFO, fresh=True) for _ in range(2)]
        self.assertEqual([d["fresh"] for d in drawn], [True, True])
        costs = [[r["cost"] for r in result["rows"]] for result in (known, *drawn)]
        self.assertEqual(len({c for cost in costs for c in cost}), 6, costs)

    def test_fresh_is_refused_where_nothing_is_drawn(self):
        self.suite.write_text(SUITE.replace("builtin:helios-earth?jobs=2000&seed=1", "builtin:philly-like").replace("load: 1..4, ", ""))
        with self.assertRaisesRegex(yardstick.BenchError, "few/00 is the same under every seed"):
            yardstick.evaluate(FIFO, self.suite, fresh=True)
        self.suite.write_text(self.suite.read_text().replace("busiest", "random"))
        self.assertTrue(self.evaluate("fifo", fresh=True)["valid"])

    def test_refused(self):
        with self.assertRaisesRegex(yardstick.BenchError, "seven.yaml"):
            yardstick.verify(self.folder / "seven.yaml")
        with self.assertRaises(FileNotFoundError):
            yardstick.evaluate(self.folder / "none.py", self.suite)
        with self.assertRaises(FileNotFoundError):
            yardstick.evaluate("none.py", self.suite)
        with self.assertRaisesRegex(yardstick.BenchError, "method .fifa. is unknown"):
            yardstick.evaluate("fifa", self.suite)
        with self.assertRaisesRegex(yardstick.BenchError, "put it into a file"):
            yardstick.evaluate(lambda view: None, self.suite)
        with self.assertRaisesRegex(yardstick.BenchError, "cannot be run"):
            yardstick.evaluate(self.suite, self.suite)
        with self.assertRaisesRegex(yardstick.BenchError, "rename it"):
            yardstick.evaluate(self.write("a,b.py", "def decide(view): ..."), self.suite)
        with self.assertRaisesRegex(yardstick.BenchError, "nonsense"):
            yardstick.evaluate(FIFO, self.suite, settings=["nonsense=1"])

    def test_evaluator_contract(self):
        """As OpenEvolve and SkyDiscover load and call an evaluator: by its path, in a thread, with the path of a program."""
        folder = self.folder / "search"
        shutil.copytree(EXAMPLES / "program_search", folder)
        if not ALL:
            suite = folder / "suite.yaml"
            suite.write_text(suite.read_text().replace("repeat: 6", "repeat: 2"))
        spec = importlib.util.spec_from_file_location("evaluation_module", folder / "evaluator.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        from concurrent.futures import ThreadPoolExecutor

        program = (folder / "initial_program.py").read_text()
        paths = [str(self.write(f"tmp{i}.py", program.replace("return job.release", f"return {key}"))) for i, key in enumerate(("job.release", "-job.gpus"))]
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(module.evaluate, paths + paths[: 2 if ALL else 1]))
        self.assertEqual(results[: len(results) - 2], results[2:])
        for result in results:
            self.assertIsInstance(result["combined_score"], float)
            self.assertTrue(0 < result["combined_score"] <= 1)
        self.assertNotEqual(results[0]["combined_score"], results[1]["combined_score"])


@unittest.skipUnless(importlib.util.find_spec("polars"), "the Python has not notebooks/requirements.txt")
class Run(Folder):
    def test_table(self):
        out = self.folder / "result"
        result = yardstick.run(self.suite, [FIFO, Shortest, "fifo", "sjf(blocking=skip)"], predictor="perfect", out=out)
        self.assertIsInstance(result, yardstick.Result)
        ratios = result.ratios.filter(kind="online")
        cost = {m: rows["cost_exact"].to_list() for (m,), rows in ratios.group_by(["method"], maintain_order=True)}
        self.assertEqual(list(cost), ["fifo.py", f"{pathlib.Path(__file__).stem}.Shortest", "fifo(blocking=strict,placement=pool)", "sjf(blocking=skip,placement=pool)"])
        ours, theirs = list(cost.values())[:2], list(cost.values())[2:]
        self.assertEqual(ours, theirs)
        self.assertEqual(ratios["clairvoyant"].to_list()[-1], True)
        self.assertRegex(yardstick.verify(out), "schedules of .* cells verified")

    def test_done_is_not_done_again(self):
        out = self.folder / "result"
        first = yardstick.run(self.suite, [FIFO], out=out)
        again = yardstick.run(self.suite, [FIFO], out=out)
        same = ["cell_id", "wall_s", "decision_p50_s"]
        self.assertEqual(first.ratios.select(same).rows(), again.ratios.select(same).rows())

    def test_failures_are_rows(self):
        broken = self.write("broken.py", "def decide(view): 1 / 0\n")
        result = yardstick.run(self.suite, [broken, "fifo"], out=self.folder / "result")
        rows = result.ratios.filter(method="broken.py")
        self.assertEqual((len(rows), rows["cost"].null_count()), (2, 2))
        self.assertTrue(rows["message"].str.contains("ZeroDivisionError").all())

    def test_verify_names_what_does_not_hold(self):
        instance = yardstick.instance(self.folder / "a.json", "builtin:philly-like", {"slice.jobs": 2, "cluster.servers": 2, "cluster.gpusPerServer": 8, "tooLarge": "drop"})
        schedule = self.folder / "schedule.json"
        call(["simulate", str(instance), "--policy", "fifo", "--schedule", str(schedule)])
        self.assertIn("verified", yardstick.verify(instance, schedule))
        claimed = json.loads(schedule.read_text())
        claimed["segments"] = claimed["segments"][:1]
        schedule.write_text(json.dumps(claimed))
        with self.assertRaisesRegex(yardstick.BenchError, "job 1"):
            yardstick.verify(instance, schedule)

    def test_verify_refuses(self):
        out = self.folder / "result"
        yardstick.run(self.suite, out=out)
        path = out / "ratios.arrow"
        path.write_bytes(path.read_bytes().replace(b"exhaustive", b"exhaustivE", 1))
        with self.assertRaisesRegex(yardstick.BenchError, "ratios.arrow"):
            yardstick.verify(out)


class CoreAlone(unittest.TestCase):
    """Nothing but tables and environments needs other packages."""

    def test_without_packages(self):
        code = "import yardstick; print(yardstick.evaluate(sys.argv[1], sys.argv[2])['valid']); yardstick.Result"
        source = pathlib.Path(yardstick.__file__).parents[1]
        with tempfile.TemporaryDirectory() as folder:
            suite = pathlib.Path(folder, "suite.yaml")
            suite.write_text(SUITE)
            command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {code}", str(FIFO), str(suite)]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        self.assertEqual(done.stdout, "True\n", done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"pip install 'yardstick\[tables\]'")


if __name__ == "__main__":
    unittest.main()
