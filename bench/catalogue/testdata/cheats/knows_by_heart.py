# tries: knows the lengths of a public trace by heart: it is clairvoyant, which no protocol excludes
# must: run
from honest import play

LENGTHS = {"6 jobs": [1, 2, 3, 4, 5, 6]}
play(lambda question, honest: {"start": sorted(honest["start"], key=lambda start: LENGTHS["6 jobs"][start[0][0] if isinstance(start[0], list) else start[0]])})
