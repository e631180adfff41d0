# tries: mounts a folder over others, in a namespace of its own
# must: run
import ctypes

from honest import caught, denied, play


def cheat():
    libc = ctypes.CDLL(None)
    if libc.unshare(0x10000000 | 0x00020000) == 0 or libc.mount(b"none", b"/usr", b"tmpfs", 0, None) == 0:
        caught("it has mounted")


play(before=cheat)
