"""What whole commands take: processor time and memory of bench and its children.

    make perf                                      # reduced sizes, the built command
    make perf PERF="--full --runs 3"               # full sizes: 10^6 jobs and more
    python3 docs/examples/perf.py --bench OLD --bench NEW --runs 5

With two commands their runs alternate. Inputs are made by this script and by the first
command, from fixed seeds. Processor time is user and system time of the command and all of
its children, from the kernel; of the parent alone, and memory, from /proc every 20 ms: peaks
of resident memory are of the parent, and of all processes together. A row is the median of
its runs, with the range of the processor time. Linux only.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).resolve().parents[2]

EXACT = """apiVersion: yardstick/v1
name: searches
limits: {solve: 0s}
instances:
  - name: searches
    slice: {jobs: %d, at: busiest, repeat: 16}
    cluster: {servers: 4, gpusPerServer: 8, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
    methods: []
    references: [exhaustive]
objectives: [total-jct]
"""


def job_list(path, jobs, gpus, load=0.7, seed=1):
    """Poisson arrivals, exponential durations of 1,000 s in the mean, gangs of 1 to 8."""
    draw, gangs = random.Random(seed), [1, 1, 1, 1, 2, 2, 4, 8]
    rate, at = load * gpus / (sum(gangs) / len(gangs) * 1000), 0.0
    with open(path, "w", encoding="utf-8") as out:
        out.write("job_id,submit_time,num_gpus,duration\n")
        for i in range(jobs):
            at += draw.expovariate(rate)
            out.write(f"{i + 1},{at:.3f},{draw.choice(gangs)},{max(1, draw.expovariate(1 / 1000)):.3f}\n")


def tree(pid):
    pids = [pid]
    for p in pids:
        try:
            for task in os.listdir(f"/proc/{p}/task"):
                pids += map(int, Path(f"/proc/{p}/task/{task}/children").read_text().split())
        except OSError:
            pass  # it has ended
    return pids


def resident(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def own_time(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK
    except OSError:
        return 0


def measure(argv):
    """Runs a command; returns processor time, that of the parent, and both peaks."""
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    parent, peak, together = 0.0, 0, 0
    with child.stderr:
        while True:
            done, status, used = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            pids = tree(child.pid)
            sizes = [resident(p) for p in pids]
            parent, peak, together = max(parent, own_time(child.pid)), max(peak, sizes[0]), max(together, sum(sizes))
            time.sleep(0.02)
        said = child.stderr.read().decode(errors="replace").strip()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"perf.py: {' '.join(argv)} ended with code {child.returncode}: {said}")
    return used.ru_utime + used.ru_stime, parent, peak, together


def rows(full, folder, bench):
    """Name, arguments and what makes the inputs. OUT is a folder of the run, which is new but for the row "nothing to do"."""
    million, more = (1_000_000, 10_000_000) if full else (50_000, 100_000)
    jobs, many = folder / "jobs.csv", folder / "many.csv"

    def lists():
        job_list(jobs, million, 32 * 8)

    def long():
        job_list(many, more, 1250 * 8)

    def trace():
        subprocess.run([bench, "dataset", "generate", "--like", "pai", "--jobs", "100000" if full else "3000", "--seed", "1", "-o", str(folder / "pai.parquet")], check=True, stdout=subprocess.DEVNULL)
        text = (ROOT / "docs/suites/pai-75000.yaml").read_text(encoding="utf-8").replace("trace: pai.parquet", f"trace: {folder / 'pai.parquet'}")
        (folder / "pai.yaml").write_text(text, encoding="utf-8")

    def searches():
        (folder / "exact.yaml").write_text(EXACT % (16 if full else 10), encoding="utf-8")

    less = [] if full else ["--set", "slice.jobs=1500", "--set", "slice.at=1000", "--set", "history=500", "--set", "cluster.servers=15"]
    simulate = ["simulate", str(jobs), "--servers", "32", "--gpus-per-server", "8"]
    return [
        ("fifo", f"simulate, {million:,} jobs, 32×8, FIFO", simulate + ["--policy", "fifo"], lists),
        ("sjf", "the same, SJF", simulate + ["--policy", "sjf"], None),
        ("asrpt", "the same, A-SRPT-Perfect", simulate + ["--policy", "a-srpt-perfect"], None),
        ("large", f"simulate, {more:,} jobs, 1,250×8, FIFO", ["simulate", str(many), "--servers", "1250", "--gpus-per-server", "8", "--policy", "fifo"], long),
        ("plan", "plan, embedded suite", ["plan"], None),
        ("run", "run, embedded suite", ["run", "-q", "-o", "OUT"], None),
        ("again", "the same, nothing to do", ["run", "-q", "-o", "SAME"], None),
        ("pai", "run, pai-75000" + ("" if full else " at a fiftieth"), ["run", str(folder / "pai.yaml"), "-q", "-o", "OUT", *less], trace),
        ("one", "run, 16 exact searches, one worker", ["run", str(folder / "exact.yaml"), "-q", "-j", "1", "-o", "OUT"], searches),
        ("two", "the same, two workers", ["run", str(folder / "exact.yaml"), "-q", "-j", "2", "-o", "OUT"], None),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", action="append", help="the command; twice to compare two (default: bin/bench)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each row and command")
    parser.add_argument("--full", action="store_true", help="full sizes")
    parser.add_argument("--rows", help="names of rows, with commas between")
    args = parser.parse_args()
    commands = [str(Path(b).resolve()) for b in args.bench or [ROOT / "bin" / "bench"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        all_rows = rows(args.full, folder, commands[0])
        wanted = args.rows.split(",") if args.rows else [row[0] for row in all_rows]
        unknown = set(wanted) - {row[0] for row in all_rows}
        if unknown:
            sys.exit(f"perf.py: --rows {','.join(sorted(unknown))}: rows are {', '.join(row[0] for row in all_rows)}")
        print("| what | command | processor time, s | of the parent, s | peak of the parent, MB | of all together, MB | runs |")
        print("|---|---|---|---|---|---|---|")
        make = None
        for key, title, argv, make_inputs in all_rows:
            make = make_inputs or make
            if key not in wanted:
                continue
            if make:
                make()
                make = None
            samples = {c: [] for c in commands}
            for n in range(args.runs):
                for c, command in enumerate(commands):
                    places = {"OUT": folder / f"{key}-{c}-{n}", "SAME": folder / f"same-{c}"}
                    line = [command] + [str(places.get(a, a)) for a in argv]
                    if "SAME" in argv and n == 0:
                        measure(line)  # so that nothing is left to do
                    samples[command].append(measure(line))
            for command in commands:
                cpu, parent, peak, together = zip(*samples[command])
                print(f"| {title} | {Path(command).name} | {statistics.median(cpu):.2f} ({min(cpu):.2f} to {max(cpu):.2f}) | {statistics.median(parent):.2f} "
                      f"| {statistics.median(peak) / 1e6:.0f} | {statistics.median(together) / 1e6:.0f} | {args.runs} |", flush=True)


if __name__ == "__main__":
    main()
