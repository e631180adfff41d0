# tries: promises a class of bounds, without loads
# must: fail: it must be N, P, S, M, E or EP
from honest import play

play(lambda question, honest: honest, hello={"class": "P0"})
