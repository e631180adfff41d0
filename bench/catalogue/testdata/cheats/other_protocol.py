# tries: speaks another version of the protocol
# must: fail: it speaks yardstick-policy/2, and this is yardstick-policy/1
from honest import play

play(hello={"protocol": "yardstick-policy/2"})
