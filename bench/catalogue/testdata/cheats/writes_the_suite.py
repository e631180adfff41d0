# tries: writes over the suite, and into the results
# must: run
# with: args=INSTANCE
import sys

from honest import caught, denied, play


def cheat():
    denied("the suite", lambda: open(sys.argv[1], "w").write("name: mine"))
    denied("the suite", lambda: open(sys.argv[1], "a"))


play(before=cheat)
