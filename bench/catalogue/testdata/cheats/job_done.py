# tries: starts a job that is done
# must: fail: it is done
from honest import play

play(lambda question, honest: {"start": [[0]]} if 0 in question["completed"] else honest)
