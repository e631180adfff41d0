# tries: ends a job before it is done
# must: fail: unknown key finish
from honest import play

play(lambda question, honest: {**honest, "finish": [0]})
