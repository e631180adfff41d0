# tries: promises the fluid class
# must: fail: it must be N, P, S, M, E or EP
from honest import play

play(lambda question, honest: honest, hello={"class": "F(1)"})
