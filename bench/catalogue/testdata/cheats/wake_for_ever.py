# tries: asks again every microsecond
# must: fail: deadline exceeded
# with: limit=2s
from honest import play

play(lambda question, honest: {"wake": question["now"] + 1})
