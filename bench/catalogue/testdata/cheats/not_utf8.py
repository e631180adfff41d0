# tries: says what is not UTF-8
# must: fail: breaks the protocol
import sys

from honest import play


def cheat(question, honest):
    sys.stdout.buffer.write(b'{"error":"\xff"}\n')
    sys.stdout.buffer.flush()
    return ""


play(cheat)
