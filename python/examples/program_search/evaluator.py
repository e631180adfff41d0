"""What a program search calls: the evaluator contract of OpenEvolve and SkyDiscover is a
file with evaluate(program_path), which returns a dictionary with combined_score.

    openevolve-run initial_program.py evaluator.py --config config.yaml
    skydiscover-run initial_program.py evaluator.py -c config.yaml

Set the search's own time limit above that of evaluate.
"""

from pathlib import Path

import yardstick

SUITE = Path(__file__).with_name("suite.yaml")


def evaluate(program_path):
    return yardstick.evaluate(program_path, SUITE, predictor="median", timeout=30)
