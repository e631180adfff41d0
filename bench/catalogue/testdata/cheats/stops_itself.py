# tries: stops its process
# must: fail: it was silent when its time was over
# with: limit=2s
import os
import signal

from honest import play

play(before=lambda: os.kill(os.getpid(), signal.SIGSTOP))
