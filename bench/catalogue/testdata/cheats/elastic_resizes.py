# tries: resizes a job in class E, whose containers stay as they are
# must: fail: class E
# with: model=elastic
from honest import play


def cheat(question, honest):
    if question["now"] == 0:
        return {"start": [[0, [[0, [1, 1]]]]], "wake": 10000000}
    return {"preempt": [0], "start": [[0, [[0, [3, 1]]]]]}


play(cheat, hello={"class": "E"})
