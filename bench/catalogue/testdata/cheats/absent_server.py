# tries: takes GPUs of a server that there is not
# must: fail: there is no server 7
from honest import play

play(lambda question, honest: {"start": [[0, [[7, 1]]]]})
