# tries: says NaN
# must: fail: breaks the protocol
from honest import play

play(lambda question, honest: '{"wake":NaN}\n')
