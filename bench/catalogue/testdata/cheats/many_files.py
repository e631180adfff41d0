# tries: makes files without end
# must: run
from honest import caught, denied, play


def cheat():
    for n in range(50_000):
        try:
            open(f"file{n}", "w").close()
        except OSError:
            return
    caught("50,000 files")


play(before=cheat)
