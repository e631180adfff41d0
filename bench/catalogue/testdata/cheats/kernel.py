# tries: asks the kernel for what no policy needs
# must: run
import ctypes

from honest import caught, denied, play


def cheat():
    libc = ctypes.CDLL(None)
    for name, number in {"bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "io_uring_setup": 425, "open_by_handle_at": 304, "keyctl": 250}.items():
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0:
            caught(name)


play(before=cheat)
