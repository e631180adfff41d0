# tries: shares GPUs in class N
# must: fail: only class S
# with: model=two
from honest import play

play(lambda question, honest: {"start": [[0, [[0, [0, 0]]]]]})
