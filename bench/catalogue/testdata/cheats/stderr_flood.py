# tries: writes a hundred megabytes and control codes to standard error
# must: fail: it ended with exit status 7: x  [2J the end
import os
import sys

from honest import play


def cheat():
    for _ in range(1000):
        sys.stderr.write("x" * 99999 + "\n")
    sys.stderr.write("\n" * 5000 + "x \x1b[2J the end\n")
    sys.stderr.flush()
    os._exit(7)


play(before=cheat)
