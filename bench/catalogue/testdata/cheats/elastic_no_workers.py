# tries: trains on parameter servers alone
# must: fail: placement has no workers
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [0, 1]]]]]}, hello={"class": "E"})
