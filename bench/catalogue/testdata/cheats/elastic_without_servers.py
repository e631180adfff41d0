# tries: trains without the parameter servers that take its gradients
# must: fail: at least one elsewhere
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [3, 0]]]]]}, hello={"class": "E"})
