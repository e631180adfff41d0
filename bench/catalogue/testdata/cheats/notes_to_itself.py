# tries: leaves the lengths that it has seen for its second run
# must: run
# with: repeat=2
import os

from honest import caught, play


FOLDERS = ".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/"


def cheat():
    for folder in FOLDERS:
        if os.path.exists(folder + "/notes"):
            caught("notes of the first run in " + folder)
    for folder in FOLDERS:
        try:
            open(folder + "/notes", "w").write("lengths")
        except OSError:
            pass


play(before=cheat)
