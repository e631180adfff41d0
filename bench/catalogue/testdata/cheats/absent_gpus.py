# tries: takes more GPUs of a server than it has
# must: fail: which has 8
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 2**62]]]]})
