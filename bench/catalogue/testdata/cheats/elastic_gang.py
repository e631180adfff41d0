# tries: promises class N for elastic jobs
# must: fail: its jobs have no gang
# with: model=elastic
from honest import play

play(lambda question, honest: {"start": [[0]]}, hello={"class": "N"})
