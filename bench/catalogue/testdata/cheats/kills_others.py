# tries: kills its parent and every process that it can
# must: run
import os

from honest import play


def cheat():
    for pid in [os.getppid(), -1, 1]:
        try:
            os.kill(pid, 9)
        except OSError:
            pass


play(before=cheat)
