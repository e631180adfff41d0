# tries: says a line of a gigabyte
# must: fail: its answer is longer than 16 MiB
from honest import play

play(lambda question, honest: "x" * 10**9)
