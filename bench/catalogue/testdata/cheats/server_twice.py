# tries: takes the GPUs of a server twice
# must: fail: each once
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 1], [0, 1]]]]})
