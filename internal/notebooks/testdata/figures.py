"""Runs every notebook as a script on result directories, and fails where an axis
of a figure has no title.

Usage: python figures.py DIRECTORY...
"""

import collections
import contextlib
import io
import os
import pathlib
import runpy
import sys

import matplotlib.pyplot as plt
import yardstick.results as yr


def main(directories):
    plt.rcParams["figure.max_open_warning"] = 0
    totals = collections.Counter()
    for directory in directories:
        os.environ["YARDSTICK_RESULTS"] = directory
        counts = {}
        for path in sorted(pathlib.Path(__file__).parents[3].joinpath("notebooks").glob("[0-9]*.py")):
            if "yr.load()" not in path.read_text():
                continue  # it makes its own results, whatever there is
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(path))
            for number in plt.get_fignums():
                for ax in plt.figure(number).axes:
                    assert ax.get_ylabel(), f"{path.name} on {directory}: a figure without a title of its y axis"
                    assert ax.get_xlabel(), f"{path.name} on {directory}: a figure without a title of its x axis"
                    assert ax.has_data(), f"{path.name} on {directory}: an empty figure"
            counts[path.name] = len(plt.get_fignums())
            plt.close("all")
        totals.update(counts)
        print(directory, counts)
    assert all(totals.values()), f"notebooks without a figure: {totals}"


main(sys.argv[1:])
