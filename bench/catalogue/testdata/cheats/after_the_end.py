# tries: speaks after the end
# must: fail: a second line
from honest import play, write

play()
write({"cost": 0})
