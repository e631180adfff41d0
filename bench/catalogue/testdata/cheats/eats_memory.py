# tries: takes a gigabyte of memory
# must: fail: MemoryError
# with: memory=300MB
from honest import play

play(before=lambda: bytearray(10**9))
