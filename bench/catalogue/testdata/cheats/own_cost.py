# tries: says that its cost is 0
# must: fail: unknown key cost
from honest import play

play(lambda question, honest: {**honest, "cost": 0})
