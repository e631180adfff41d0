# tries: says that the run is over
# must: fail: unknown key end
from honest import play

play(lambda question, honest: {"end": {}})
