# tries: starts and preempts at once, to save the load
# must: fail: cannot preempt job 0: it is waiting
# with: model=preemptive
from honest import play

play(lambda question, honest: {"start": [[0]], "preempt": [0]}, hello={"class": "P"})
