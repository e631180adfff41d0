# tries: reads the instance from the file that it was made from
# must: run
# with: args=FOLDER
import sys

from honest import caught, denied, play


def cheat():
    denied("the instance", lambda: open(sys.argv[1] + "/instance.json").read())


play(before=cheat)
