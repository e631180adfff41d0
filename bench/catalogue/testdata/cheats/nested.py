# tries: says a list that is a million deep
# must: fail: breaks the protocol
from honest import play

play(lambda question, honest: '{"start":' + "[" * 10**6 + "\n")
