# tries: patches the interpreter and its packages
# must: run
import json
import os
import sys

from honest import caught, denied, play


def cheat():
    for path in json.__file__, sys.executable, *sys.path[1:], sys.prefix:
        denied(path, lambda: open(path if os.path.isfile(path) else path + "/yardstick.py", "w"))
        denied(path, lambda: os.chmod(path, 0o777))


play(before=cheat)
