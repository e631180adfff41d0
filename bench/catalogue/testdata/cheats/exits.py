# tries: ends in the middle, without an error
# must: fail: it ended with exit status 0
import sys

from honest import play

play(lambda question, honest: honest if question["now"] == 0 else sys.exit(0))
