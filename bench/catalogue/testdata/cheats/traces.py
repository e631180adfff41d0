# tries: traces its parent
# must: run
import ctypes
import os

from honest import caught, denied, play


def cheat():
    libc = ctypes.CDLL(None)
    if libc.ptrace(16, os.getppid(), 0, 0) == 0:
        caught("it is traced")
    denied("its memory", lambda: open(f"/proc/{os.getppid()}/mem", "rb").read(1))


play(before=cheat)
