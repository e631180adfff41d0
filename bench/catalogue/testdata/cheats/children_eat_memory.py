# tries: has its children take the memory
# must: fail: of memory, and the limit is 286 MiB
# with: memory=300MB
import os
import time

from honest import play


def cheat():
    for _ in range(6):
        if os.fork() == 0:
            kept = b"x" * 10**8
            time.sleep(1000)
    time.sleep(1000)


play(before=cheat)
