# tries: takes fewer GPUs than the gang
# must: fail: and its gang is 2
# with: model=two
from honest import play

play(lambda question, honest: {"start": [[0, [[0, 1]]]]})
