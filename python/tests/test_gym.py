"""The environment of Gymnasium keeps its contract, and its score is the verifier's."""

import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import warnings

import yardstick
from yardstick.program import call
from yardstick.suites import as_command, write_archive

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"

if importlib.util.find_spec("gymnasium"):
    import numpy as np
    from gymnasium.utils.env_checker import check_env
    from yardstick.gym import GROWTH, SchedulingEnv

    sys.path.insert(0, str(EXAMPLES))
    import train


def cost_of(instance, *policy, **params):
    """The total JCT that bench simulate prints of a policy, in seconds."""
    flags = [a for k, v in params.items() for a in ("-p", f"{k}={v}")]
    printed = call(["simulate", str(instance), *policy, *flags]).stdout
    return float(re.search(r"(?m)^total-jct +([0-9.]+) s$", printed)[1])


@unittest.skipUnless(importlib.util.find_spec("gymnasium"), "the Python has not python/requirements.txt")
class Environment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.instances = train.instances(cls.folder.name, (1, 2, 3))

    def env(self, *arguments, **options):
        env = SchedulingEnv(*arguments or (self.instances,), **options)
        self.addCleanup(env.close)
        return env

    def play(self, env, choose, **options):
        """An episode: the rewards, and the last info."""
        seen, info = env.reset(options={"instance": 0}, **options)
        rewards, ended = [], False
        while not ended:
            self.assertTrue(env.observation_space.contains(seen))
            self.assertTrue(info["action_mask"][:-1].any(), "asked without a choice")
            seen, reward, ended, truncated, info = env.step(choose(env, seen, info))
            self.assertFalse(truncated)
            rewards.append(reward)
        self.assertTrue(env.observation_space.contains(seen))
        return rewards, info

    def first(self, env, seen, info):
        return int(info["action_mask"].argmax())

    def drawn(self, seed):
        r = np.random.default_rng(seed)
        return lambda env, seen, info: int(r.integers(env.action_space.n))

    def test_check_env(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*maximum value is infinity.*")
            check_env(self.env(), skip_render_check=True)

    def test_rewards_add_up_to_the_verified_cost(self):
        for objective in GROWTH:
            for seed in range(3):
                rewards, info = self.play(self.env(self.instances[0], objective=objective), self.drawn(seed))
                self.assertAlmostEqual(-sum(rewards), info["cost"], delta=1e-9 * info["cost"])
                self.assertEqual(info["cost"], float(info["costs"][objective]) / 1e6)
                if objective != "total-completion" and objective != "weighted-completion":
                    self.assertGreaterEqual(min(-r for r in rewards), 0)

    def test_growth_is_that_of_the_objective(self):
        """Without the last reward, which makes up the difference, total JCT and makespan
        are what they are: nothing is made up."""
        env = self.env(self.instances[0])
        made_up = []
        ask = env._ask

        def watched(answer):
            ask(answer)
            if env._costs is not None:
                made_up.append(env._cost() - env._grown)

        env._ask = watched
        self.play(env, self.drawn(1))
        self.assertEqual(made_up, [0])

    def test_first_that_fits_is_fifo(self):
        rewards, info = self.play(self.env(queue=64), self.first)
        self.assertAlmostEqual(info["cost"], cost_of(self.instances[0], "--policy", "fifo", blocking="skip"), places=3)

    def test_only_waiting_ends_too(self):
        """To wait all the time starts jobs one after the other, in order of release."""
        rewards, info = self.play(self.env(), lambda env, seen, info: env.queue)
        self.assertGreater(info["cost"], cost_of(self.instances[0], "--policy", "fifo"))

    def test_same_actions_same_episode(self):
        env = self.env()
        once = self.play(env, self.drawn(5), seed=7)
        self.assertEqual(str(self.play(env, self.drawn(5), seed=7)), str(once))

    def test_seed_draws_the_instance(self):
        env = self.env()
        opened = []
        env._open, unwatched = lambda index: opened.append(index) or unwatched(index), env._open
        for seed in range(20):
            env.reset(seed=seed)
            env.reset(seed=seed)
        self.assertEqual(opened[::2], opened[1::2])
        self.assertEqual(set(opened), {0, 1, 2})

    def test_refused(self):
        with self.assertRaisesRegex(yardstick.BenchError, "^bench simulate: .*nothing.json"):
            SchedulingEnv("/nothing.json")
        with self.assertRaisesRegex(ValueError, "total-jct"):
            SchedulingEnv(self.instances, objective="scheduled-weight")
        env = self.env()
        self.play(env, self.first)
        with self.assertRaisesRegex(RuntimeError, "call reset"):
            env.step(0)

    def test_no_process_is_left(self):
        env = self.env()
        env.reset()
        processes = [env._bench]
        env.reset()
        processes.append(env._bench)
        env.close()
        self.assertTrue(all(p.returncode is not None for p in processes))

    def test_learned_policy_beats_fifo(self):
        """On instances of seeds that it was not trained on, by the verifier's costs, in the
        environment and served to bench."""
        long = bool(os.environ.get("YARDSTICK_ALL"))
        with tempfile.TemporaryDirectory() as folder:
            training, held = train.instances(folder, (4, 5)), train.instances(folder, (101, 102, 103))
            weights = train.train(self.env(training), rounds=8 if long else 3, children=4)
            env = self.env(held)
            learned = [train.cost(env, i, weights) for i in range(3)]
            fifo = [cost_of(h, "--policy", "fifo", blocking="skip") for h in held]
            self.assertLess(sum(np.log(learned)), sum(np.log(fifo)) - 0.1)
            archive, saved = pathlib.Path(folder, "yardstick.pyz"), pathlib.Path(folder, "weights.json")
            write_archive(archive)
            saved.write_text(json.dumps(weights))
            program = as_command(EXAMPLES / "train.py", archive)
            files = ",".join(str(f) for f in (*program.files, saved))
            served = [cost_of(h, "--policy-command", program.command, "--policy-files", files, predictor="perfect") for h in held]
            self.assertLess(sum(np.log(served)), sum(np.log(fifo)) - 0.1)


if __name__ == "__main__":
    unittest.main()
