# tries: takes fewer than no GPUs of a server to free some
# must: fail: it takes -1 GPUs
from honest import play

play(lambda question, honest: {"start": [[0, [[0, -1]]]]})
