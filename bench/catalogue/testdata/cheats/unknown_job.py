# tries: starts a job that there is not
# must: fail: no such job has been released
from honest import play

play(lambda question, honest: {"start": [[1000]]})
