"""A program search without a language model or a network: every candidate is the initial
program with another priority, and the best by combined_score wins.

    python3 search.py
"""

import tempfile
from pathlib import Path

import yardstick
from evaluator import SUITE, evaluate

PRIORITIES = ["job.release", "job.gpus", "job.duration", "job.duration * job.gpus", "-job.duration", "1 / 0"]


def search(folder):
    program = Path(__file__).with_name("initial_program.py").read_text()
    found = {}
    for i, priority in enumerate(PRIORITIES):
        candidate = Path(folder, f"candidate{i}.py")
        candidate.write_text(program.replace("return job.release", f"return {priority}"))
        result = evaluate(candidate)
        found[priority] = result["combined_score"]
        print(f"{result['combined_score']:.3f}  {priority:24}  {result.get('error', '')}")
    best = max(found, key=found.get)
    held = yardstick.evaluate(Path(folder, f"candidate{PRIORITIES.index(best)}.py"), SUITE, predictor="median", fresh=True)
    print(f"best: {best}; on fresh instances {held['combined_score']:.3f}")
    return found, best, held


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        search(folder)
