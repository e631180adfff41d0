# tries: starts a job twice at once
# must: fail: cannot start job 0: it is training
# with: model=one
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 1]]], [0, [[0, 1]]]]})
