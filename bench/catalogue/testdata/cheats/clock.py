# tries: decides by the clock
# must: fail: two runs of the policy on one instance differ
# with: repeat=2
import time

from honest import play

held = []


def cheat(question, honest):
    held.extend(honest["start"])
    if not question["wake"]:
        return {"wake": question["now"] + 1 + time.time_ns() % 10**6}
    start, held[:] = held[:], []
    return {"start": start}


play(cheat)
