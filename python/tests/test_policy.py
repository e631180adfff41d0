"""Policies against messages as bench writes them."""

import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr

import yardstick
from yardstick.cluster import RULES
from yardstick.load import load
from yardstick.protocol import Session, dialogue, example_hello, example_job, example_question
from yardstick.suites import write_archive

SRC = pathlib.Path(yardstick.__file__).parents[1]
EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


class Views(unittest.TestCase):
    """What a view says is what bench said, and what the policy did."""

    def session(self, answers, **hello):
        """A session with a policy that gives the answers in turn, and the views that it sees."""
        turns = iter(answers)
        s = Session(lambda view: next(turns)(view))
        s.answer(example_hello(**hello))
        return s

    def test_life_of_a_job(self):
        job = yardstick.Decision
        s = self.session([lambda v: job([v.arrived[0]]), lambda v: job(preempt=[0]), lambda v: job(), lambda v: job([0, 1]), lambda v: job()], servers=[2, 2])
        v = s.view
        self.assertEqual(s.answer(example_question(arrived=[example_job(0, gpus=2), example_job(1)], free=[[0, 2], [1, 2]])), {"start": [[0]]})
        self.assertEqual([j.job for j in v.waiting], [1])
        self.assertEqual(list(v.running), [0])
        self.assertEqual(s.answer(example_question(now=1, free=[[0, 0]])), {"preempt": [0]})
        self.assertEqual((v.free, v.idle, v.now), ([0, 2], 2, 1))
        s.answer(example_question(now=2, paused=[0], free=[[0, 2]]))
        self.assertEqual(([j.job for j in v.paused], [j.job for j in v.waiting], v.running), ([0], [0, 1], {}))
        self.assertEqual(s.answer(example_question(now=3)), {"start": [[0], [1]]})
        s.answer(example_question(now=4, completed=[1, 0]))
        self.assertEqual(([j.job for j in v.completed], v.waiting, v.running), ([1, 0], [], {}))

    def test_taken_gpus_are_free_again_unless_started(self):
        def takes(view):
            self.assertTrue(view.take(view.waiting[0]))
            self.assertEqual(view.idle, 1)
            self.assertFalse(view.fits(view.waiting[0]))
            return yardstick.Decision()

        s = self.session([takes, takes], servers=[3])
        for now in (0, 1):
            self.assertEqual(s.answer(example_question(now=now, arrived=[] if now else [example_job(0, gpus=2)], free=[[0, 3]])), {})

    def test_starts(self):
        start, decide = yardstick.Start, yardstick.Decision
        answers = [
            (decide([start(0, parts=[[0, [1, 2]]], accumulation=2)]), {"start": [[0, [[0, [1, 2]]], {"accumulation": 2}]]}),
            (decide([start(1, size=4)], wake=7), {"start": [[1, None, {"size": 4}]], "wake": 7}),
            (decide([start(2, parts=[[0, 1]], stages=[[1, 0]])]), {"start": [[2, [[0, 1]], {"stages": [[1, 0]]}]]}),
        ]
        s = self.session([lambda _, a=a: a for a, _ in answers])
        for n, (_, said) in enumerate(answers):
            self.assertEqual(s.answer(example_question(now=n, arrived=[example_job(n)])), said)

    def test_told_what_it_wants(self):
        class Curious(yardstick.Policy):
            wants = ("placements", "progress", "profiles")

            def decide(self, view):
                return yardstick.Decision([j for j in view.arrived])

        s = Session(Curious)
        said = s.answer(example_hello())
        self.assertEqual(said["hello"]["wants"], ["placements", "progress", "profiles"])
        s.answer(example_question(arrived=[example_job(0, profile={"task": None})], free=[[0, 8]], placed=[], progress=[]))
        s.answer(example_question(now=1, placed=[[0, [[0, 1]]]], progress=[[0, "7/2"]]))
        self.assertEqual((s.view.placed, s.view.progress[0] * 2, s.view.running[0].profile), ({0: [[0, 1]]}, 7, {"task": None}))
        s.answer(example_question(now=2, completed=[0], placed=[], progress=[]))
        self.assertEqual(s.view.placed, {})

    def test_other_protocol(self):
        with self.assertRaisesRegex(yardstick.ProtocolError, "yardstick-policy/2"):
            Session(yardstick.Policy).answer(example_hello(protocol="yardstick-policy/2"))


class Again(unittest.TestCase):
    """One instance after another: a new object for each, or a new process."""

    ONE = (example_hello(), example_question(arrived=[example_job(0)], free=[[0, 8]]), {"end": {}})

    def answers(self, policy):
        out = io.StringIO()
        yardstick.serve(policy, io.StringIO("".join(json.dumps(m) + "\n" for m in self.ONE * 3)), out)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def test_a_class(self):
        class Counts(yardstick.Policy):
            def __init__(self):
                self.asked = 0

            def decide(self, view):
                self.asked += 1
                return yardstick.Decision(view.waiting if self.asked == 1 else [])

        answers = self.answers(Counts)
        self.assertEqual([a["hello"]["again"] for a in answers[::2]], [True] * 3)
        self.assertEqual(answers[1::2], [{"start": [[0]]}] * 3)

        class Remembers(Counts):
            again = False

        for other in Remembers, Counts(), lambda view: yardstick.Decision(view.waiting):
            answers = self.answers(other)
            self.assertEqual(len(answers), 2, other)
            self.assertNotIn("again", answers[0]["hello"])


class Failures(unittest.TestCase):
    """A policy that fails says so in one line, and nothing else on standard output."""

    def last(self, decide, predictor="perfect", **known):
        out = io.StringIO()
        asked = "".join(json.dumps(m) + "\n" for m in (example_hello(predictor=predictor), example_question(arrived=[example_job(0, **known)], free=[[0, 8]])))
        with redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            yardstick.serve(decide, io.StringIO(asked), out)
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 2)
        return json.loads(lines[1])["error"]

    def test_raises(self):
        def decide(view):
            raise KeyError("no\nsuch")

        self.assertRegex(self.last(decide), r"^KeyError: .*no.*such.* \(test_policy.py line \d+\)$")

    def test_without_a_predictor(self):
        def decide(view):
            return yardstick.Decision(sorted(view.waiting, key=lambda job: job.gpus * job.duration))

        self.assertRegex(self.last(decide, predictor="none", duration=None), r"^TypeError: .*NoneType.*: lengths are None without a predictor: give one, as in -p predictor=forest")

    def test_answers_that_are_none(self):
        self.assertIn("must return a yardstick.Decision", self.last(lambda v: None))
        self.assertIn("must return a yardstick.Decision", self.last(lambda v: [0]))
        self.assertIn("does not wait", self.last(lambda v: yardstick.Decision([0, 0])))
        self.assertIn("does not wait", self.last(lambda v: yardstick.Decision([1])))
        self.assertIn("TypeError", self.last(lambda v: yardstick.Decision([0.5])))
        self.assertIn("TypeError", self.last(lambda v: yardstick.Decision(wake=1.5)))
        self.assertIn("the placement rule 'any' is unknown", self.last(lambda v: yardstick.Decision([v.take(v.waiting[0], "any")])))

    def test_no_policy(self):
        for what in (int, 3):
            with self.assertRaisesRegex(TypeError, "is no policy"):
                yardstick.serve(what, io.StringIO(""), io.StringIO())

    def test_prints_go_to_standard_error(self):
        def decide(view):
            print("thinking")
            return yardstick.Decision()

        heard = io.StringIO()
        with redirect_stderr(heard):
            answers = dialogue(decide, [example_hello(), example_question(), {"end": {}}])
        self.assertEqual((answers[1:], heard.getvalue()), ([{}], "thinking\n"))


class Files(unittest.TestCase):
    def write(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "mine.py")
        path.write_text("import yardstick\n" + text)
        return str(path)

    def test_found(self):
        self.assertEqual(load(self.write("class A(yardstick.Policy): ...\n")).__name__, "A")
        self.assertEqual(load(self.write("class A(yardstick.Policy): ...\nclass B(A): ...\n")).__name__, "B")
        self.assertEqual(load(self.write("class A(yardstick.Policy): ...\nclass B(yardstick.Policy): ...\n"), "A").__name__, "A")
        self.assertEqual(load(self.write("def decide(view): ...\n")).__name__, "decide")
        self.assertEqual(load(self.write("class A(yardstick.Policy): ...\nif __name__ == '__main__': 1 / 0\n")).__name__, "A")

    def test_not_found(self):
        for text, said in (("", "defines no policy"), ("class A(yardstick.Policy): ...\nclass B(yardstick.Policy): ...\n", "the policies A, B")):
            with self.assertRaisesRegex(TypeError, said):
                load(self.write(text))
        with self.assertRaisesRegex(TypeError, "no file of Python"):
            load(__file__ + ".txt")

    def test_archive(self):
        """A policy runs with the archive alone, on any Python, and the archive is the same each time."""
        with tempfile.TemporaryDirectory() as folder:
            archive, again = pathlib.Path(folder, "yardstick.pyz"), pathlib.Path(folder, "again.pyz")
            write_archive(archive)
            write_archive(again)
            self.assertEqual(archive.read_bytes(), again.read_bytes())
            asked = "".join(json.dumps(m) + "\n" for m in (example_hello(), example_question(), {"end": {}}))
            command = [sys.executable, "-S", "-I", str(archive), str(EXAMPLES / "fifo.py")]
            done = subprocess.run(command, input=asked, capture_output=True, text=True, cwd=folder)
            self.assertEqual((done.stdout.splitlines()[1:], done.stderr, done.returncode), (["{}"], "", 0))


class Rules(unittest.TestCase):
    """Every rule chooses the gang's number of GPUs, all of them free, or none."""

    def test_random(self):
        r = random.Random(1)
        for _ in range(2000):
            servers = [r.randint(0, 8) for _ in range(r.randint(1, 6))]
            c = yardstick.Cluster(servers, [r.choice((0, s, r.randint(0, s))) for s in servers])
            gpus = r.randint(1, sum(servers) + 1)
            for rule in RULES:
                parts = c.pick(rule, gpus)
                if rule != "consolidate":
                    self.assertEqual(parts is not None, gpus <= c.idle)
                elif gpus <= sum(servers) and c.free == servers:
                    self.assertIsNotNone(parts, (servers, gpus))  # alone in the cluster it always runs
                if parts is None:
                    continue
                self.assertEqual([s for s, _ in parts], sorted({s for s, _ in parts}))
                self.assertEqual(sum(n for _, n in parts), gpus)
                self.assertTrue(all(0 < n <= c.free[s] for s, n in parts))
                if rule in ("consolidate", "best-fit"):  # the rest is where the least is free that suffices, lowest server first
                    for s, n in parts:
                        others = [t for t in range(len(servers)) if t not in dict(parts) and n <= c.free[t]]
                        self.assertFalse(n < c.free[s] and any((c.free[t], t) < (c.free[s], s) for t in others), (servers, c.free, gpus, parts))
                if rule == "consolidate":
                    biggest = sorted(servers, reverse=True)
                    self.assertGreater(gpus, sum(biggest[: len(parts) - 1]))

    def test_unknown(self):
        with self.assertRaisesRegex(ValueError, "pool, consolidate"):
            yardstick.Cluster([1]).pick("any", 1)


class Program(unittest.TestCase):
    """Where there is no bench, the error says what to do."""

    def test_none(self):
        from unittest import mock

        with mock.patch.dict(os.environ, PATH=""):
            os.environ.pop("YARDSTICK_BENCH", None)
            with self.assertRaisesRegex(yardstick.BenchError, "build it with `go build"):
                yardstick.find_bench()

    def test_named(self):
        self.assertTrue(os.access(yardstick.find_bench(), os.X_OK))

    def test_refusals_are_its_last_line(self):
        with self.assertRaisesRegex(yardstick.BenchError, "^bench verify /nowhere: .*nowhere.*$"):
            yardstick.verify("/nowhere")


if __name__ == "__main__":
    unittest.main()
