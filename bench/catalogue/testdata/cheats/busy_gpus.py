# tries: takes GPUs that another job holds
# must: fail: which has 0 free
# with: model=two3
from honest import play

play(lambda question, honest: {"start": [[n, [[0, 2]]] for n in range(3)]})
