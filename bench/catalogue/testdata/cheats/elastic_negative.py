# tries: takes fewer than no workers of a server to free some
# must: fail: not both 0
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [3, 1]], [1, [-3, 1]]]]]}, hello={"class": "E"})
