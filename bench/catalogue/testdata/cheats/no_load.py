# tries: starts a job without its load
# must: fail: choices
# with: model=preemptive
from honest import play

play(lambda question, honest: {"start": [[0, None, {"load": 0}]]}, hello={"class": "P"})
