"""The command highs on the library of the Python package highspy: what tests use
where HiGHS itself is not installed. It knows the options that this package
gives: --version, or --options_file FILE MODEL. The library is called through its C
interface: the package's own takes eight times as long to load."""

import ctypes
import glob
import importlib.util
import os
import sys

ERROR = -1  # kHighsStatusError


def load():
    folder = os.path.dirname(importlib.util.find_spec("highspy").origin)
    path = min(glob.glob(os.path.join(folder, "libhighs.*")))  # all are one library
    lib = ctypes.CDLL(path)
    lib.Highs_version.restype = ctypes.c_char_p
    lib.Highs_create.restype = ctypes.c_void_p
    return lib


def main(args):
    lib = load()
    if args == ["--version"]:
        print("HiGHS version", lib.Highs_version().decode())
        return 0
    if len(args) != 3 or args[0] != "--options_file":
        print("usage: highs --version | --options_file FILE MODEL", file=sys.stderr)
        return 2
    h = ctypes.c_void_p(lib.Highs_create())
    options, model = (os.fsencode(a) for a in args[1:])
    if lib.Highs_readOptions(h, options) == ERROR or lib.Highs_readModel(h, model) == ERROR:
        return 1
    status = lib.Highs_run(h)
    solution = ctypes.create_string_buffer(4096)
    lib.Highs_getStringOptionValue(h, b"solution_file", solution)
    if lib.Highs_writeSolution(h, solution) == ERROR:
        return 1
    return 1 if status == ERROR else 0


sys.exit(main(sys.argv[1:]))
