# tries: reads what people have in their folders
# must: run
import glob
import os

from honest import caught, denied, play


def cheat():
    for folder in "/home", "/root", "/etc/ssh", "/var", "/tmp", "/run", "/mnt", "/srv", "/sys":
        if os.path.isdir(folder) and os.access(folder, os.R_OK) and glob.glob(folder + "/*"):
            caught(f"{folder} has {glob.glob(folder + '/*')[:3]}")
    denied("passwords", lambda: open("/etc/shadow").read())


play(before=cheat)
