# tries: takes memory that no process has
# must: run
import ctypes
import os

from honest import caught, denied, play


def cheat():
    denied("a file in memory", lambda: os.memfd_create("x"))
    if ctypes.CDLL(None).shmget(0, 2**20, 0o1666) >= 0:
        caught("shared memory")
    denied("a file in shared memory", lambda: open("/dev/shm/x", "w"))


play(before=cheat)
