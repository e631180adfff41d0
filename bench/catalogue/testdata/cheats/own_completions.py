# tries: says which jobs have completed
# must: fail: unknown key completed
from honest import play

play(lambda question, honest: {**honest, "completed": [0]})
