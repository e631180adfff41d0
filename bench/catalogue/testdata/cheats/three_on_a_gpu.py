# tries: has three jobs share a GPU
# must: fail: which is held by jobs
# with: model=sharing
from honest import play

play(lambda question, honest: {"start": [[n, [[0, [0]]]] for n in range(3)]}, hello={"class": "S"})
