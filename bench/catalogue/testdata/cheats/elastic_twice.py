# tries: gives the GPUs of a server to two elastic jobs
# must: fail: of which 1 are free
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [3, 1]]]], [1, [[0, [3, 1]]]]]}, hello={"class": "E"})
