# tries: starts a job that is not released
# must: fail: no such job has been released
from honest import play

play(lambda question, honest: {"start": [[5]]} if question["now"] == 0 else honest)
