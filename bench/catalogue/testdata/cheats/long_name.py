# tries: has a name of a million characters
# must: fail: hello.name
from honest import play

play(hello={"name": "x" * 10**6})
