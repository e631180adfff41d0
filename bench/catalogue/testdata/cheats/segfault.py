# tries: crashes its interpreter
# must: fail: it was ended by the signal
import os
import signal

from honest import play

play(before=lambda: os.kill(os.getpid(), signal.SIGSEGV) or os.kill(os.getpid(), signal.SIGKILL))
