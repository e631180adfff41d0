# tries: asks to be woken in the past
# must: fail: must be later than now
from honest import play

play(lambda question, honest: {**honest, "wake": question["now"] - 5} if question["now"] > 9 else honest)
