# tries: has a name of several lines with a control code
# must: fail: hello.name
from honest import play

play(hello={"name": "optimum\n\x1b[2Jlb0"})
