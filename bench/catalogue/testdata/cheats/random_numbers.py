# tries: decides by random numbers of the machine
# must: fail: two runs of the policy on one instance differ
# with: repeat=2
import os

from honest import play

held = []


def cheat(question, honest):
    held.extend(honest["start"])
    if not question["wake"]:
        return {"wake": question["now"] + 1 + int.from_bytes(os.urandom(3), "big")}
    start, held[:] = held[:], []
    return {"start": start}


play(cheat)
