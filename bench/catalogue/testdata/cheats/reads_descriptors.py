# tries: looks for pipes and files that were left open
# must: run
import os

from honest import caught, denied, play


def cheat():
    found = set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}
    if len(found) > 1:  # one is the listing
        caught(f"descriptors {found}")


play(before=cheat)
