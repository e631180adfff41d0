# tries: says a key twice, with two meanings
# must: fail: the key start is there twice
from honest import play

play(lambda question, honest: '{"start":[[0]],"start":[]}\n')
