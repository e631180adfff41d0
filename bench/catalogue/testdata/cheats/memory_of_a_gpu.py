# tries: has two jobs share a GPU without memory for both
# must: fail: on each GPU, but
# with: model=tight
from honest import play

play(lambda question, honest: {"start": [[n, [[0, [0]]]] for n in range(2)]}, hello={"class": "S"})
