# tries: reads secrets from the environment
# must: run
import os

from honest import caught, denied, play


def cheat():
    known = {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    if set(os.environ) - known:
        caught(f"environment {set(os.environ) - known}")


play(before=cheat)
