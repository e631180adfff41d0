# tries: closes its input and goes on
# must: fail: it closed a pipe and went on
import os
import time

from honest import write

os.close(0)
write({"hello": {"name": "cheat", "class": "N"}})
time.sleep(1000)
