# tries: changes its file for the next run
# must: run
import os

from honest import caught, denied, play


def cheat():
    for path in __file__, os.path.abspath(__file__):
        try:
            os.remove(path)
            open(path, "w").write("another policy")
        except OSError:
            pass


play(before=cheat)
