# tries: writes over the suite, and into the results
# must: run
# with: args=FOLDER
import sys

from honest import caught, denied, play


def cheat():
    denied("the suite", lambda: open(sys.argv[1] + "/instance.json", "w").write("name: mine"))
    denied("the suite", lambda: open(sys.argv[1] + "/instance.json", "a"))


play(before=cheat)
