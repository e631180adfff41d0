# tries: says that its makespan is 0, with an empty schedule
# must: fail: unknown key schedule
from honest import play

play(lambda question, honest: {"schedule": [], "makespan": 0})
