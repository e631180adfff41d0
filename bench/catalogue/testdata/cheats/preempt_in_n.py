# tries: preempts in class N
# must: fail: class N is not preemptive
from honest import play

play(lambda question, honest: {"preempt": [0]} if question["now"] else honest)
