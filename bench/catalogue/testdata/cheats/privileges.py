# tries: becomes another user
# must: run
import os

from honest import caught, denied, play


def cheat():
    denied("root", lambda: (os.setuid(0), open("/etc/shadow", "rb").read()))
    denied("another user", lambda: os.setuid(1))
    denied("its group", lambda: os.setgroups([0, 4, 27]))


play(before=cheat)
