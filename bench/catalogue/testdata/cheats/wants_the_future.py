# tries: wants to be sent the future
# must: fail: hello.wants has "future"
from honest import play

play(hello={"wants": ["future"]})
