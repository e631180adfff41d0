# tries: promises class P where jobs cannot be preempted
# must: fail: does not belong to the gang model
from honest import play

play(lambda question, honest: honest, hello={"class": "P"})
