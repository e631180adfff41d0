# tries: makes and opens devices
# must: run
import os

from honest import caught, denied, play


def cheat():
    denied("a disk", lambda: os.mknod("disk", 0o60666, os.makedev(254, 0)) or open("disk", "rb").read(1))
    denied("the memory", lambda: open("/dev/mem", "rb"))
    denied("the kernel's log", lambda: open("/dev/kmsg", "rb"))
    denied("a setting", lambda: open("/proc/sys/kernel/hostname", "a"))
    denied("a trigger", lambda: open("/proc/sysrq-trigger", "a"))


play(before=cheat)
