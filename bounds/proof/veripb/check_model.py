#!/usr/bin/env python3
"""Checks that model.opb is the program of instance.txt: python3 check_model.py instance.txt model.opb

The program has a variable s{j}_{t} for each job j and start t in a window [release, last],
one start per job, and for each slot that all jobs which could run there do not fit in, that
the gangs running there are at most the capacity. Windows: the README's lemmas.
"""
import hashlib
import sys


def program(text, windows, value):
    lines = text.decode("ascii").split("\n")
    if lines[0] != "yardstick-problem 1" or lines[7] != "minimise sum" or not lines[8].startswith("capacity ") or not lines[9].startswith("jobs "):
        sys.exit("refused: instance.txt is no problem whose cost is a sum")
    capacity, n = (int(line.split(" ")[1]) for line in lines[8:10])
    jobs = [tuple(map(int, line.split(" "))) for line in lines[10:10 + n]]
    if len(jobs) != n or lines[10 + n:] != [""] or not all(len(j) == 4 and j[0] >= 0 and j[1] > 0 and 0 < j[2] <= capacity and j[3] > 0 for j in jobs):
        sys.exit("refused: instance.txt has jobs that are none")
    spare = value - sum(w * (r + p) for r, p, g, w in jobs)  # what all jobs together may wait
    latest = max(j[0] for j in jobs) + sum(p * g for r, p, g, w in jobs) // (capacity - max(j[2] for j in jobs) + 1)
    last = []
    for r, p, g, w in jobs:
        wait = max(0, spare // w)
        if windows == "budget+left-shift":
            wait = min(wait, latest - r)
        last.append(r + wait)
    begin, end = min(j[0] for j in jobs), max(l + j[1] for l, j in zip(last, jobs))
    rows = []
    for t in range(begin, end):
        could = [j for j in range(n) if jobs[j][0] <= t < last[j] + jobs[j][1]]
        if sum(jobs[j][2] for j in could) > capacity:
            rows.append("".join(f" {-jobs[j][2]} s{j}_{u}" for j in could
                                for u in range(max(jobs[j][0], t - jobs[j][1] + 1), min(last[j], t) + 1)) + f" >= {-capacity} ;\n")
    starts = [range(j[0], l + 1) for j, l in zip(jobs, last)]
    yield f"* #variable= {sum(map(len, starts))} #constraint= {n + len(rows)}\n"
    yield f"* problem {hashlib.sha256(text).hexdigest()}\n* windows {windows} for {value}\n"
    yield "* s{j}_{t}: job j, a line of instance.txt counted from 0, starts at t\n"
    yield "min:" + "".join(f" {jobs[j][3] * (t + jobs[j][1])} s{j}_{t}" for j in range(n) for t in starts[j]) + " ;\n"
    for j in range(n):
        yield "".join(f" 1 s{j}_{t}" for t in starts[j]) + " = 1 ;\n"
    yield from rows


def main():
    text, model = (open(path, "rb").read() for path in sys.argv[1:3])
    words = model.split(b"\n", 3)[2].decode("ascii").split(" ")
    if len(words) != 5 or words[:2] != ["*", "windows"] or words[2] not in ("budget", "budget+left-shift") or words[3] != "for":
        sys.exit("refused: model.opb does not say what its windows are")
    if "".join(program(text, words[2], int(words[4]))).encode("ascii") != model:
        sys.exit("refused: model.opb is not the program of instance.txt")
    print(f"holds: model.opb has every schedule of instance.txt that could cost less than {words[4]}")
    print(f"so no schedule of instance.txt costs less than what VeriPB verifies, if that is at most {words[4]}; if it is more, no less than {words[4]} is all that is shown")


if __name__ == "__main__":
    main()
