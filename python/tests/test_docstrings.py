"""The examples in docstrings do what they say."""

import doctest
import importlib
import pkgutil
import unittest

import yardstick


def load_tests(loader, tests, pattern):
    for module in pkgutil.iter_modules(yardstick.__path__, "yardstick."):
        tests.addTests(doctest.DocTestSuite(importlib.import_module(module.name)))
    return tests


class Docstrings(unittest.TestCase):
    def test_found(self):
        self.assertGreater(len(list(pkgutil.iter_modules(yardstick.__path__))), 0)


if __name__ == "__main__":
    unittest.main()
