# tries: opens files without end
# must: run
from honest import caught, denied, play


def cheat():
    kept = []
    for n in range(10_000):
        try:
            kept.append(open("/dev/null"))
        except OSError:
            kept.clear()
            return
    caught("10,000 open files")


play(before=cheat)
