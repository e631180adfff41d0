"""The examples make the schedules that they say: those of bench's own policies."""

import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yardstick
from yardstick.cluster import RULES
from yardstick.program import call
from yardstick.suites import Command, as_command, write_archive

ALL = bool(os.environ.get("YARDSTICK_ALL"))  # more draws, and what is long
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
CLUSTER = {"cluster.servers": 3, "cluster.gpusPerServer": 4, "cluster.inter": "10Gbps", "cluster.intra": "300GB/s"}
TRACE = "builtin:philly?jobs=3000"
SOURCES = {  # busy enough that order, blocking and placement all matter
    "gangs": {"where.gpus": "<=8", "slice.jobs": 60, "slice.at": "busiest", "iteration": "1s", "params": "500MB", **CLUSTER},
    "slots": {"where.gpus": "<=4", "slice.jobs": 40, "slice.at": "busiest", "round": "10m", "slotted": "true", **CLUSTER, "cluster.servers": 1},
}


PREEMPTIVE = """\
apiVersion: yardstick/v1
name: preemptive
instances:
  - name: few
    where: {gpus: ["<=4"], duration_s: ["<8000", ">600"]}
    trace: builtin:helios-earth?jobs=6000&seed=1
    model: preemptive
    slice: {jobs: 6, at: busiest, repeat: 6}
    cluster: {servers: 1, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    slotted: true
    round: 5m
objectives: [total-jct]
methods: [fifo]
references: [bout-dp]
"""


ELASTIC = """\
apiVersion: yardstick/v1
name: elastic
instances:
  - {name: servers, slice: {jobs: 4, at: random, repeat: 2}, cluster: {servers: 2}, model: elastic, round: 240h}
  - {name: rings, slice: {jobs: 4, at: random, repeat: 2}, cluster: {servers: 2}, model: elastic, ring: true, round: 168h}
objectives: [weighted-completion]
methods: [elastic-fifo]
references: [elastic-optimum]
"""


class Shortest(yardstick.Policy):
    """Shortest first, skipping, on GPUs that the package chooses."""

    def decide(self, view):
        jobs = sorted(view.waiting, key=lambda job: job.duration)
        return yardstick.Decision([job for job in jobs if view.take(job)])


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.archive = cls.folder / "yardstick.pyz"
        write_archive(cls.archive)
        sources = SOURCES if ALL else {"gangs": SOURCES["gangs"]}
        cls.instances = {n: yardstick.instance(cls.folder / f"{n}.json", TRACE, keys) for n, keys in sources.items()}

    def schedule(self, instance, *policy, **params):
        """The schedule of a policy, as bench writes it and bench verifies it."""
        out = self.folder / "schedule.json"
        flags = [a for k, v in params.items() for a in ("-p", f"{k}={v}")]
        call(["simulate", str(instance), *policy, *flags, "--schedule", str(out)])
        yardstick.verify(instance, out)
        return out.read_text()

    def served(self, instance, command, predictor="perfect"):
        files = ["--policy-files", ",".join(str(f) for f in command.files)] if command.files else []
        return self.schedule(instance, "--policy-command", command.command, *files, predictor=predictor)

    def programs(self):
        """The same program in four languages, of which a brief run takes those that need no compiler."""
        for name, compiler in {} if not ALL else {"lists.c": ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o"], "lists.rs": ["rustc", "-O", "--edition", "2021", "-o"]}.items():
            program = self.folder / name.replace(".", "-")
            subprocess.run([*compiler, str(program), str(EXAMPLES / name)], check=True)
            yield name, f"./{program.name}", program
        yield "lists.js", "node lists.js", EXAMPLES / "lists.js"
        yield "lists.py", "python3 lists.py", EXAMPLES / "lists.py"

    @unittest.skipUnless(all(map(shutil.which, ("gcc", "node", "rustc"))), "gcc, node or rustc is missing: run make test, which installs them")
    def test_four_languages(self):
        expected = {
            (name, order, blocking): self.schedule(instance, "--policy", order, blocking=blocking)
            for name, instance in self.instances.items()
            for order, blocking in (("fifo", "strict"), ("sjf", "skip"), ("fifo", "skip"), ("sjf", "strict"))[: 4 if ALL else 2]
        }
        self.assertEqual(len(set(expected.values())), len(expected), "the instances do not tell the policies apart")
        for language, command, program in self.programs():
            for (name, order, blocking), schedule in expected.items():
                with self.subTest(language, instance=name, order=order, blocking=blocking):
                    got = self.served(self.instances[name], Command(f"{command} {order} {blocking}", [program]))
                    self.assertEqual(got, schedule)

    def test_fifo(self):
        for name, instance in self.instances.items():
            expected = self.schedule(instance, "--policy", "fifo")
            self.assertEqual(self.served(instance, as_command(EXAMPLES / "fifo.py", self.archive), "none"), expected, name)

    def test_placement_rules(self):
        """The package's rules choose the GPUs that bench's do."""
        program, expected = self.folder / "shortest.py", {}
        rules = RULES if ALL else RULES[:3]
        for place in rules:
            for name, instance in self.instances.items():
                expected[place, name] = self.schedule(instance, "--policy", "sjf", blocking="skip", placement=place)
                program.write_text(f"import yardstick\n{inspect.getsource(Shortest)}    place = {place!r}\n")
                with self.subTest(place=place, instance=name):
                    self.assertEqual(self.served(instance, as_command(program, self.archive)), expected[place, name])
        self.assertEqual(len({expected[place, "gangs"] for place in rules}), len(rules), "the instances do not tell the rules apart")

    def test_from_batsim(self):
        for name, instance in self.instances.items():
            expected = self.schedule(instance, "--policy", "fifo", blocking="skip")
            self.assertEqual(self.served(instance, as_command(EXAMPLES / "from_batsim.py", self.archive), "none"), expected, name)

    def test_srpt(self):
        """A preemptive policy: its schedules keep the rules of class P, and it is close to bench's."""
        suite = self.folder / "preemptive.yaml"
        suite.write_text(PREEMPTIVE if ALL else PREEMPTIVE.replace("repeat: 6", "repeat: 3"))
        found = {}
        for policy in (str(EXAMPLES / "srpt.py"), "srtf", "fifo"):
            found[policy] = yardstick.evaluate(policy, suite, predictor="perfect")
            self.assertTrue(found[policy]["valid"], found[policy])
        ours, theirs, fifo = found.values()
        self.assertEqual({r["class"] for r in ours["rows"]}, {"Ps"})
        self.assertLess(abs(ours["ratio"] - theirs["ratio"]), 0.01)
        self.assertGreater(fifo["ratio"], 1.1)

    def test_elastic(self):
        """A policy that chooses containers: its schedules keep the rules of class E, and cost no less than the optima."""
        suite = self.folder / "elastic.yaml"
        suite.write_text(ELASTIC if ALL else ELASTIC.replace("repeat: 2", "repeat: 1"))
        found = yardstick.evaluate(EXAMPLES / "elastic.py", suite)
        self.assertTrue(found["valid"], found)
        self.assertEqual({(r["class"], r["denominator"]) for r in found["rows"]}, {("Es", "optimum")})
        self.assertEqual(len(found["rows"]), 4 if ALL else 2)
        self.assertGreaterEqual(min(r["ratio"] for r in found["rows"]), 1)

    @unittest.skipUnless(ALL, "a dozen evaluations; test_suites has the evaluator")
    def test_program_search(self):
        folder = self.folder / "search"
        shutil.copytree(EXAMPLES / "program_search", folder)
        if not os.environ.get("YARDSTICK_ALL"):
            suite = folder / "suite.yaml"
            suite.write_text(suite.read_text().replace("repeat: 6", "repeat: 2"))
        done = subprocess.run([sys.executable, "search.py"], cwd=folder, capture_output=True, text=True, env=os.environ)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^0\.000  1 / 0 +.*ZeroDivisionError")
        self.assertRegex(done.stdout, r"best: job\.gpus; on fresh instances [01]\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
