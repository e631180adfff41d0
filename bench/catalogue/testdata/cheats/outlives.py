# tries: leaves a process behind, in a session of its own, forked twice
# must: run
import os
import sys

from honest import play


def cheat():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)", "MARKER"])
        os._exit(0)
    os.wait()


play(before=cheat)
