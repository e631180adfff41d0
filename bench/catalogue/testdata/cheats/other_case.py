# tries: says a key in another case
# must: fail: unknown key Start
from honest import play

play(lambda question, honest: {"Start": []})
