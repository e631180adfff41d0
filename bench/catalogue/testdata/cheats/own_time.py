# tries: says what time it is
# must: fail: unknown key now
from honest import play

play(lambda question, honest: {**honest, "now": 0})
