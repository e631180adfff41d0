# tries: runs a job on a number of GPUs that it does not list
# must: fail: none of the job's sizes
# with: model=sharing
from honest import play

play(lambda question, honest: {"start": [[0, None, {"size": 2}]]}, hello={"class": "M"})
