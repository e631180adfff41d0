# tries: starts a job with a length of its own
# must: fail: choices
from honest import play

play(lambda question, honest: {"start": [[0, None, {"iters": 1}]]})
