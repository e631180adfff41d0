# tries: has workers elsewhere than the parameter server has bandwidth for
# must: fail: too few for the 3 workers elsewhere
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [3, 0]], [1, [0, 1]]]]]}, hello={"class": "E"})
