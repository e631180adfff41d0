# tries: reads the instance from the processes that know it
# must: run
import glob
import os

from honest import caught, denied, play


def cheat():
    for path in glob.glob("/proc/[0-9]*"):
        if path in (f"/proc/{os.getpid()}", "/proc/self", "/proc/thread-self"):
            continue
        denied("its environment", lambda: open(path + "/environ", "rb").read(1))
        for n in range(20):
            denied("its files", lambda: os.readlink(f"{path}/fd/{n}"))
            denied("its pipes", lambda: open(f"{path}/fd/{n}", "wb"))
        denied("its memory", lambda: open(path + "/mem", "rb").read(1))
        denied("its root", lambda: os.listdir(path + "/root"))


play(before=cheat)
