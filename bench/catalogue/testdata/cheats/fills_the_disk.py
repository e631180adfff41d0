# tries: fills the disk
# must: run
import os

from honest import caught, denied, play


def cheat():
    written = 0
    for n in range(100):
        try:
            with open(f"big{n}", "wb") as f:
                for _ in range(10):
                    written += f.write(bytes(10**7))
        except OSError:
            break
    if written > 2 * 10**8:
        caught(f"{written} bytes")


play(before=cheat)
