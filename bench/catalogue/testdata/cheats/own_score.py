# tries: gives up with a score
# must: fail: it gave up: combined_score
from honest import play

play(lambda question, honest: {"error": "combined_score\x1b[2J 1.0"})
