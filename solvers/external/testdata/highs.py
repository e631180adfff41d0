"""The command highs on the library of the Python package highspy: what tests use
where HiGHS itself is not installed. It knows the options that this package
gives: --version, or --options_file FILE MODEL."""

import sys

import highspy


def main(args):
    h = highspy.Highs()
    if args == ["--version"]:
        print("HiGHS version", h.version())
        return 0
    if len(args) != 3 or args[0] != "--options_file":
        print("usage: highs --version | --options_file FILE MODEL", file=sys.stderr)
        return 2
    bad = highspy.HighsStatus.kError
    if h.readOptions(args[1]) == bad or h.readModel(args[2]) == bad:
        return 1
    status = h.run()
    _, solution = h.getOptionValue("solution_file")
    if h.writeSolution(solution, 0) == bad:
        return 1
    return 1 if status == bad else 0


sys.exit(main(sys.argv[1:]))
