# tries: starts a job that runs
# must: fail: it is training
# with: model=one
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 1]]]], "wake": question["now"] + 1})
