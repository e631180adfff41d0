# tries: chooses accumulation steps that the job does not list
# must: fail: accumulation 64 is none of the job's
# with: model=sharing
from honest import play

play(lambda question, honest: {"start": [[0, None, {"accumulation": 64}]]}, hello={"class": "S"})
