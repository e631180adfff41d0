# tries: says 1e999
# must: fail: is no integer
from honest import play

play(lambda question, honest: '{"wake":1e999}\n')
