"""The package installs with pip, and has types."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[1]


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


@unittest.skipUnless(has("gymnasium"), "the Python has not python/requirements.txt")
class Install(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("YARDSTICK_ALL"), "builds and installs")
    def test_pip(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "source")
            shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
            target = str(pathlib.Path(folder, "site"))
            pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-build-isolation", "--target", target]
            subprocess.run([*pip, str(source)], check=True)
            probe = "import yardstick, importlib.metadata as m; print(yardstick.__file__, m.version('yardstick'), *m.requires('yardstick'), sep='\\n')"
            env = {**os.environ, "PYTHONPATH": target}
            out = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True, env=env, cwd=folder).stdout
            path, version, *requires = out.splitlines()
            self.assertTrue(path.startswith(target), path)
            self.assertEqual(version, "0.1.0")
            self.assertTrue(all("extra ==" in r for r in requires), requires)
            self.assertTrue(pathlib.Path(path).with_name("py.typed").exists())

    @unittest.skipUnless(os.environ.get("YARDSTICK_ALL"), "a quarter of a minute")
    def test_types(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache, "-p", "yardstick"], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
