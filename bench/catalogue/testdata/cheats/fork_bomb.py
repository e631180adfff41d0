# tries: starts processes without end
# must: run
import os
import time

from honest import caught, play


def cheat():
    for n in range(100_000):
        try:
            if os.fork() == 0:
                time.sleep(1000)
        except OSError:
            return
    caught("100,000 processes")


play(before=cheat)
