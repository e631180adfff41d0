# tries: answers twice
# must: fail: a second line
from honest import play

play(lambda question, honest: "{}\n{}\n")
