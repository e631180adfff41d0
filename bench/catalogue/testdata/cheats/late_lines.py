# tries: answers a second time some time later
# must: fail: a second line | finds no free GPUs
import threading
import time

from honest import play, write


def later():
    time.sleep(0.05)
    write("{}\n")


play(before=lambda: threading.Thread(target=later).start())
