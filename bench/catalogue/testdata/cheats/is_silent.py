# tries: says nothing until the limit
# must: fail: it was silent when its time was over
# with: limit=2s
import time

from honest import play

play(lambda question, honest: time.sleep(1000))
