# tries: speaks before it is asked
# must: fail: its first answer is no hello | a second line
from honest import play, write

write("{}\n")
play()
