# tries: takes half a GPU
# must: fail: 0.5 is no integer
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 0.5]]]]})
