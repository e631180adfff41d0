# tries: starts a job before the first
# must: fail: no such job has been released
from honest import play

play(lambda question, honest: {"start": [[-1]]})
