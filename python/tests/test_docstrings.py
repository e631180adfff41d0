"""The examples in docstrings do what they say."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import unittest

import yardstick

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[2] / "notebooks"  # whose golden results examples load
EXTRAS = {"polars", "pyarrow", "matplotlib", "numpy", "gymnasium"}  # of the package


def load_tests(loader, tests, pattern):
    here = os.getcwd()
    for found in pkgutil.iter_modules(yardstick.__path__, "yardstick."):
        try:
            module = importlib.import_module(found.name)
        except ModuleNotFoundError as e:
            if e.name not in EXTRAS:
                raise
            why = f"{found.name} needs {e.name}, which this Python has not: python/requirements.txt, notebooks/requirements.txt"
            tests.addTest(unittest.FunctionTestCase(unittest.skip(why)(lambda: None), description=found.name))
            continue
        tests.addTests(doctest.DocTestSuite(module, setUp=lambda test: os.chdir(NOTEBOOKS), tearDown=lambda test: os.chdir(here)))
    return tests


class Docstrings(unittest.TestCase):
    def test_found(self):
        self.assertGreater(len(list(pkgutil.iter_modules(yardstick.__path__))), 0)


if __name__ == "__main__":
    unittest.main()
