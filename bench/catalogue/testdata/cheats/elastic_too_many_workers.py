# tries: trains an elastic job on more workers than it has data for
# must: fail: placement has more than 3 workers
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [4, 1]]]]]}, hello={"class": "E"})
