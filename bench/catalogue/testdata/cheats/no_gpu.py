# tries: takes no GPU
# must: fail: it takes 0 GPUs of server 0
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 0]]]]})
