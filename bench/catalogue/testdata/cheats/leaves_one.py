# tries: leaves the longest job out
# must: fail: 1 jobs are not done
from honest import play

play(lambda question, honest: {"start": [s for s in honest["start"] if s != [2]]})
