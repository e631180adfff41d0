"""Tests of the profiler. Those that need PyTorch are skipped where it is absent."""

import importlib.util
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import models
import profiler
import tables
import timing

TORCH = importlib.util.find_spec("torch") is not None


class Timing(unittest.TestCase):
    def test_interval_is_that_of_the_order_statistics(self):
        # n = 10: P(Binomial(10, 1/2) < 2) = 11/1024, so the 2nd smallest and 2nd largest enclose with 97.9 %.
        self.assertEqual(timing.median_interval([5, 3, 9, 1, 7, 2, 8, 4, 6, 10]), (2, 9))
        self.assertEqual(timing.median_interval([1, 2, 3, 4, 5]), (0.0, math.inf))
        self.assertEqual(timing.median_interval([6, 1, 2, 3, 4, 5]), (1, 6))

    def test_interval_encloses_the_median_as_often_as_it_says(self):
        source, hits, trials = random.Random(4), 0, 2000
        for _ in range(trials):
            low, high = timing.median_interval([source.random() for _ in range(15)])
            hits += low <= 0.5 <= high
        self.assertGreater(hits / trials, 0.94)

    def test_repeat_drops_the_warmup_and_stops_when_sure(self):
        source = iter([1000, 1000] + [10] * 50)
        s = timing.repeat(lambda: next(source), warmup=2, least=7, most=50)
        self.assertEqual((s.median, s.count), (10, 7))
        noisy = random.Random(1)
        s = timing.repeat(lambda: noisy.uniform(1, 100), warmup=0, least=7, most=20)
        self.assertEqual(s.count, 20)
        a, b = timing.repeat(lambda: (1, 2), warmup=0, least=7, most=9)
        self.assertEqual((a.median, b.median), (1, 2))

    def test_bad_timings_are_refused(self):
        for samples in ([], [1, -1], [math.nan], [math.inf]):
            with self.assertRaises(ValueError):
                timing.Summary(samples)
        with self.assertRaises(ValueError):
            timing.repeat(lambda: 1, least=5, most=4)

    def test_overlap_and_slowdown(self):
        steps = [(0, 10), (10, 25), (25, 30), (30, 41)]
        self.assertEqual(timing.overlapping(steps, 10, 40), [15, 5])
        self.assertEqual(timing.slowdown(10, 15), 1.5)
        self.assertEqual(timing.slowdown(10, 9), 1.0)
        with self.assertRaises(ValueError):
            timing.slowdown(0, 9)


class Arguments(unittest.TestCase):
    def test_defaults_and_choices(self):
        o = profiler.parse(["layers", "-o", "x.parquet"])
        self.assertEqual((len(o.models), o.limit, o.tiny), (9, 3, False))
        o = profiler.parse(["interference", "-o", "x.parquet", "--models", "vgg19, gpt-6.7b", "--seconds", "2"])
        self.assertEqual((o.models, o.seconds), (["vgg19", "gpt-6.7b"], 2))

    def test_mistakes_end_in_one_line(self):
        for wrong in (["layers"], ["speed", "-o", "x"], ["layers", "-o", "x", "--models", "vgg"], ["layers", "-o", "/no/such/x"],
                      ["layers", "-o", "x", "--batch", "-1"], ["layers", "-o", "x", "--seconds", "0"], ["layers", "-o", "x", "--models", ","]):
            run = subprocess.run([sys.executable, os.path.join(HERE, "profiler.py"), *wrong], capture_output=True, text=True)
            self.assertEqual(run.returncode, 2, wrong)
            self.assertNotIn("Traceback", run.stderr)

    def test_names_of_gpus(self):
        for name, want in (("Tesla V100-SXM2-32GB", "v100"), ("NVIDIA A100-SXM4-80GB", "a100"), ("NVIDIA H200", "h200"),
                           ("NVIDIA GeForce RTX 4090", "rtx-4090"), ("", "unknown")):
            self.assertEqual(profiler.gpu_name(name), want)

    @unittest.skipIf(TORCH, "PyTorch is here")
    def test_without_torch_the_reason_is_said(self):
        run = subprocess.run([sys.executable, os.path.join(HERE, "profiler.py"), "layers", "-o", "x.parquet"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("PyTorch is needed", run.stderr)
        self.assertNotIn("Traceback", run.stderr)


class Tables(unittest.TestCase):
    LAYERS = [dict(name=f"l{i}", forward_ns=1.4, backward_ns=2.6, activation_bytes=8, parameter_bytes=4, stored_bytes=None) for i in range(3)]

    def test_rows_of_a_profile(self):
        rows = tables.profile_rows("m", "g", 2, self.LAYERS)
        self.assertEqual([r["layer"] for r in rows], [0, 1, 2])
        self.assertEqual([r["activation_bytes"] for r in rows], [8, 8, 0])
        self.assertEqual((rows[0]["forward_ns"], rows[0]["backward_ns"], rows[0]["source"]), (1, 3, "measured"))

    def test_wrong_rows_are_refused(self):
        good = tables.profile_rows("m", "g", 2, self.LAYERS)
        tables.check(tables.PROFILE, good)
        for change in ({"gpu": ""}, {"gpu": None}, {"batch": -1}, {"batch": True}, {"forward_ns": math.nan}, {"forward_ns": "1"}, {"colour": 1}):
            with self.assertRaises(ValueError, msg=change):
                tables.check(tables.PROFILE, [{**good[0], **change}])
        with self.assertRaises(ValueError):
            tables.check(tables.PROFILE, [])

    def test_files(self):
        import pyarrow.parquet as pq

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.parquet")
            tables.write(path, tables.PROFILE, tables.profile_rows("m", "g", 2, self.LAYERS), {"date": "2000-01-01"})
            table = pq.read_table(path)
            self.assertEqual(table.schema.names, [c[0] for c in tables.PROFILE])
            self.assertEqual(table.column("stored_bytes").null_count, 3)
            self.assertEqual(table.schema.metadata[b"yardstick.provenance"], b'{"date": "2000-01-01"}')


@unittest.skipUnless(TORCH, "PyTorch is not here")
class Measuring(unittest.TestCase):
    def run_tiny(self, what, *more):
        import pyarrow.parquet as pq

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.parquet")
            command = [sys.executable, os.path.join(HERE, "profiler.py"), what, "--tiny", "-o", path, *more]
            run = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stderr)
            return pq.read_table(path).to_pylist()

    def test_layers(self):
        rows = self.run_tiny("layers", "--repeats", "3")
        self.assertEqual({r["profile"] for r in rows}, set(models.BATCH))
        for r in rows:
            self.assertGreater(r["forward_ns"], 0)
        gpt = [r for r in rows if r["profile"] == "gpt-13b"]
        self.assertEqual([r["name"] for r in gpt], ["embedding", "layer1", "layer2", "layer3", "layer4", "head"])
        self.assertEqual(gpt[3]["parameter_bytes"], gpt[4]["parameter_bytes"])  # the fourth is the median of three

    def test_interference(self):
        rows = self.run_tiny("interference", "--models", "bert-large,gpt-6.7b", "--seconds", "0.2")
        self.assertEqual([(r["model"], r["beside"]) for r in rows],
                         [("bert-large", "bert-large"), ("bert-large", "gpt-6.7b"), ("gpt-6.7b", "bert-large"), ("gpt-6.7b", "gpt-6.7b")])
        for r in rows:
            self.assertGreaterEqual(r["xi"], 1)
            self.assertGreaterEqual(r["iterations"], 5)

    def test_storage(self):
        (row,) = self.run_tiny("storage", "--models", "bert-large", "--repeats", "2")
        self.assertGreater(row["checkpoint_bytes"], 0)
        self.assertGreater(min(row["save_ns"], row["load_ns"]), 0)

    def test_large_models_are_cut_to_three_layers_of_a_kind(self):
        model = models.build("t5-11b", tiny=True).truncated(3)
        self.assertEqual([l.name for l in model.layers if l.kind == "encoder"], ["encoder1", "encoder2", "encoder3"])

    @unittest.skipUnless(os.environ.get("YARDSTICK_PROFILES"), "no analytic profiles to compare with")
    def test_networks_are_those_of_the_analytic_profiles(self):
        """At full size, on the meta device: names, parameters, activations and operations."""
        import pyarrow.parquet as pq
        import torch
        from torch.utils.flop_counter import FlopCounterMode

        analytic = {}
        for row in pq.read_table(os.environ["YARDSTICK_PROFILES"]).to_pylist():
            analytic.setdefault(row["profile"], []).append(row)
        self.assertEqual(set(analytic), set(models.BATCH))
        for name in models.BATCH:
            model = models.build(name)
            inputs, built = model.inputs("meta", torch.float16), {}
            self.assertEqual([l.name for l in model.layers], [r["name"] for r in analytic[name]])
            self.assertEqual(model.batch, analytic[name][0]["batch"])
            for layer, want in zip(model.layers, analytic[name]):
                if layer.kind not in built or name not in models.LARGE:
                    with torch.device("meta"):
                        built[layer.kind] = layer.build().to(torch.float16)
                module = built[layer.kind]
                with torch.no_grad():
                    inputs = module(*inputs)
                parameters = 2 * sum(p.numel() for p in module.parameters())
                if layer.name in ("encoder1", "decoder1"):
                    parameters += 2 * 32 * 128  # T5's biases by relative position, which the program leaves out
                self.assertEqual(parameters, want["parameter_bytes"], (name, layer.name))
                if layer is not model.layers[-1]:
                    self.assertEqual(sum(2 * t.numel() for t in inputs), want["activation_bytes"], (name, layer.name))
        for name, want in (("vgg19", 19.632), ("resnet152", 11.514), ("inception-v3", 5.713), ("gpt-6.7b", 3472.651)):
            model = models.build(name, batch=1)
            x = model.inputs("meta", torch.float32)
            with FlopCounterMode(display=False) as counter, torch.no_grad():
                for layer in model.layers:
                    with torch.device("meta"):
                        module = layer.build()
                    x = module(*x)
            self.assertAlmostEqual(counter.get_total_flops() / 2e9, want, delta=1e-3 * want, msg=name)


if __name__ == "__main__":
    unittest.main()
