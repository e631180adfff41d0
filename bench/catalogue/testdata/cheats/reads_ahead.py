# tries: looks for the next question before it answers
# must: run
import select
import sys
import time

from honest import caught, play


def cheat(question, honest):
    time.sleep(0.01)
    if select.select([sys.stdin], [], [], 0)[0]:
        caught("another question is there")
    return honest


play(cheat)
