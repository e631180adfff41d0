# tries: starts nothing
# must: fail: stalled
from honest import play

play(lambda question, honest: {})
