# tries: closes its output and goes on
# must: fail: it closed a pipe and went on
import os
import time

from honest import play


def cheat():
    os.close(1)
    time.sleep(1000)


play(before=cheat)
