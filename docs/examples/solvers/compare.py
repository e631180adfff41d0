"""Our exact search beside CP-SAT, HiGHS and SCIP on the same instances.

    python3 -m venv solvers && solvers/bin/pip install -r requirements.txt
    solvers/bin/python compare.py --bench bench --jobs 20 --load 0.65 --objective makespan --limit 20

Every solver has one thread and the same limit of processor time, user and system of all
its processes, and is told nothing but the instance. What Python takes to start and to build
a model is not counted. Who has used the limit is interrupted, and answers with what it has
by then. (Linux: times are read from /proc.)

Instances are built by bench from the generator sjf-bsbf-testbed, seeds 1 to 10, with all
times multiples of ten seconds and place without effect, so that the programs below are
exact. What a solver returns is checked and costed by bench score; its optima
and bounds are its own claims, ours are proven.

CP-SAT has one interval per job and one cumulative constraint; "+energy" turns its
energetic reasoning, edge finding and second level of linear cuts on. HiGHS and SCIP
have the time-indexed program of Sousa and Wolsey (1992), a start for each job and slot.
"""

import argparse
import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SLOT = 10  # seconds
UNITS = {"h": 3600, "m": 60, "s": 1}


def seconds(text):
    return sum(float(v) * UNITS[u] for v, u in re.findall(r"([0-9.]+)([hms])", text))


def slots(text):
    n = seconds(text) / SLOT
    if n != round(n):
        sys.exit(f"compare.py: {text} is no multiple of {SLOT} s: the programs would not be exact")
    return round(n)


class Instance:
    """Releases, gangs and durations in slots, and a horizon.

    Some optimal schedule starts no job later than it could. So at least G − g + 1 GPUs
    are busy, g being the largest gang, from the last release until the last start.
    """

    def __init__(self, path):
        data = json.loads(Path(path).read_text())
        self.gpus = sum(s["gpus"] for s in data["cluster"]["servers"])
        self.names = [j["name"] for j in data["jobs"]]
        self.jobs = [
            (slots(j["release"]), j["stages"][0]["replicas"], slots(j["stages"][0]["compute"]) * j["iters"])
            for j in data["jobs"]
        ]
        work = sum(g * d for _, g, d in self.jobs)
        busy = self.gpus - max(g for _, g, _ in self.jobs) + 1
        self.horizon = max(r for r, _, _ in self.jobs) + math.ceil(work / busy) + max(d for _, _, d in self.jobs)


def used(pid):
    """Seconds of processor time of a process and of those that it started, ended ones included."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        others = [t for t in os.listdir(f"/proc/{pid}/task") if t != str(pid)]
        for t in others:
            children += Path(f"/proc/{pid}/task/{t}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(used(c) for c in children)


READY = "ready"  # the line that ends what is not counted, which says how much that is


def limited(command, limit, announced):
    """Runs a command until it has used so much processor time, and then interrupts it.

    What it takes until it says that it is ready, if that is announced, is not counted.
    Returns what it printed, and the seconds counted. (A schedule fits into a pipe.)
    """
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    start = 0.0
    if announced:
        line = p.stdout.readline().split()
        if line[:1] != [READY]:
            sys.exit(f"compare.py: {command}: {p.stderr.read()}")
        start = float(line[1])
    interrupted = False
    # A process that has ended keeps its times until it is waited for.
    while not os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if not interrupted and used(p.pid) - start >= limit:
            p.send_signal(signal.SIGINT)
            interrupted = True
        time.sleep(0.02)
    took = used(p.pid) - start
    out, err = p.stdout.read(), p.stderr.read()
    p.wait()
    if p.returncode not in (0, 130):
        sys.exit(f"compare.py: {command}: exit code {p.returncode}: {err}")
    return out, took


def ready():
    print(READY, time.process_time(), flush=True)


def cpsat(instance, objective, energy):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    starts = [model.new_int_var(r, instance.horizon - d, "") for r, _, d in instance.jobs]
    spans = [model.new_fixed_size_interval_var(s, d, "") for s, (_, _, d) in zip(starts, instance.jobs)]
    model.add_cumulative(spans, [g for _, g, _ in instance.jobs], instance.gpus)
    if objective == "makespan":
        last = model.new_int_var(0, instance.horizon, "")
        for s, (_, _, d) in zip(starts, instance.jobs):
            model.add(last >= s + d)
        model.minimize(last)
    else:
        model.minimize(sum(s + d - r for s, (r, _, d) in zip(starts, instance.jobs)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if energy:
        solver.parameters.use_timetable_edge_finding_in_cumulative = True
        solver.parameters.use_overload_checker_in_cumulative = True
        solver.parameters.use_energetic_reasoning_in_no_overlap_2d = True
        solver.parameters.linearization_level = 2
    ready()
    status = solver.solve(model)  # an interrupt ends the search
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return ([solver.value(s) for s in starts] if found else None), solver.best_objective_bound


def program(instance, objective):
    """The time-indexed program: per job the slots that it may start in with their costs;
    for the makespan, a last column that is its end."""
    columns = []
    for j, (r, _, d) in enumerate(instance.jobs):
        for t in range(r, instance.horizon - d + 1):
            columns.append((j, t, 0 if objective == "makespan" else t + d - r))
    return columns


def held(instance, columns):
    """By slot, the columns whose job runs in it, with its GPUs."""
    rows = [[] for _ in range(instance.horizon)]
    for k, (j, t, _) in enumerate(columns):
        _, gang, duration = instance.jobs[j]
        for u in range(t, t + duration):
            rows[u].append((k, gang))
    return rows


def highs(instance, objective):
    import highspy

    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    h.setOptionValue("mip_rel_gap", 0.0)
    columns = program(instance, objective)
    integer = highspy.HighsVarType.kInteger
    x = [h.addVariable(lb=0, ub=1, obj=cost, type=integer) for _, _, cost in columns]
    own = [[] for _ in instance.jobs]
    for k, (j, _, _) in enumerate(columns):
        own[j].append(k)
    for ks in own:
        h.addRow(1, 1, len(ks), [x[k].index for k in ks], [1.0] * len(ks))
    for row in held(instance, columns):
        h.addRow(-highspy.kHighsInf, instance.gpus, len(row), [x[k].index for k, _ in row], [float(g) for _, g in row])
    if objective == "makespan":
        last = h.addVariable(lb=0, ub=instance.horizon, obj=1)
        for j, ks in enumerate(own):
            ends = [float(-(columns[k][1] + instance.jobs[j][2])) for k in ks]
            h.addRow(0, highspy.kHighsInf, len(ks) + 1, [last.index] + [x[k].index for k in ks], [1.0] + ends)
    h.HandleKeyboardInterrupt = True
    ready()
    h.solve()
    info = h.getInfo()
    starts = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        value = h.getSolution().col_value
        starts = [next(columns[k][1] for k in ks if value[x[k].index] > 0.5) for ks in own]
    return starts, info.mip_dual_bound


def scip(instance, objective):
    import pyscipopt

    m = pyscipopt.Model()
    m.hideOutput()
    m.setParam("lp/threads", 1)
    columns = program(instance, objective)
    x = [m.addVar(vtype="B", obj=cost) for _, _, cost in columns]
    own = [[] for _ in instance.jobs]
    for k, (j, _, _) in enumerate(columns):
        own[j].append(k)
    for ks in own:
        m.addCons(pyscipopt.quicksum(x[k] for k in ks) == 1)
    for row in held(instance, columns):
        if row:
            m.addCons(pyscipopt.quicksum(g * x[k] for k, g in row) <= instance.gpus)
    if objective == "makespan":
        last = m.addVar(lb=0, ub=instance.horizon, obj=1)
        for j, ks in enumerate(own):
            m.addCons(last >= pyscipopt.quicksum((columns[k][1] + instance.jobs[j][2]) * x[k] for k in ks))
    ready()
    m.optimize()  # an interrupt ends the search
    starts = None
    if m.getNSols() > 0:
        starts = [next(columns[k][1] for k in ks if m.getVal(x[k]) > 0.5) for ks in own]
    return starts, m.getDualbound()


def recomputed(bench, path, instance, objective, starts, folder):
    """The cost of a schedule in seconds, by bench score; an error if it is none."""
    table = Path(folder) / "schedule.csv"
    with open(table, "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["name", "start", "end"])
        for name, s, (_, _, d) in zip(instance.names, starts, instance.jobs):
            rows.writerow([name, s * SLOT, (s + d) * SLOT])
    subprocess.run([bench, "score", path, table], check=True, capture_output=True)
    ends = [(s + d) * SLOT for s, (_, _, d) in zip(starts, instance.jobs)]
    if objective == "makespan":
        return max(ends)
    return sum(e - r * SLOT for e, (r, _, _) in zip(ends, instance.jobs))


def ours(bench, path, objective, limit):
    """Cost, bound and seconds of processor time of bench solve."""
    out, took = limited([bench, "solve", path, "--quiet", "--objective", objective], limit, announced=False)
    cost = float(re.search(r"^schedule +([0-9.]+)", out, re.M)[1])
    bound = float(re.search(r"^lower bound +([0-9.]+)", out, re.M)[1])
    return cost, bound, took


OTHERS = {
    "CP-SAT": lambda i, o: cpsat(i, o, False),
    "CP-SAT +energy": lambda i, o: cpsat(i, o, True),
    "HiGHS": highs,
    "SCIP": scip,
}


def one(solver, path, objective):
    """Runs one of the other solvers in this process: its starts and its bound."""
    starts, bound = OTHERS[solver](Instance(path), objective)
    print(json.dumps({"starts": starts, "bound": bound if math.isfinite(bound) else 0}))


def theirs(solver, args, path, folder):
    command = [sys.executable, __file__, "--one", solver, "--path", path, "--objective", args.objective]
    out, took = limited(command, args.limit, announced=True)
    answer = json.loads(out.splitlines()[-1])
    cost = math.inf
    if answer["starts"] is not None:
        cost = recomputed(args.bench, path, Instance(path), args.objective, answer["starts"], folder)
    bound = max(0, SLOT * math.ceil(answer["bound"] - 1e-6))
    return cost, bound, took


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--bench", default="bench", help="the program")
    p.add_argument("--jobs", type=int, default=20)
    p.add_argument("--load", default="1.0", help="offered load")
    p.add_argument("--objective", choices=["total-jct", "makespan"], default="total-jct")
    p.add_argument("--limit", type=float, default=20, help="seconds of processor time for each solver and instance")
    p.add_argument("--seeds", type=int, default=10)
    p.add_argument("--solvers", default=",".join(OTHERS), help="the others, with commas")
    p.add_argument("--one", help=argparse.SUPPRESS)
    p.add_argument("--path", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.one:
        return one(args.one, args.path, args.objective)
    rows = {name: [] for name in ["exhaustive", *(s for s in args.solvers.split(",") if s)]}
    for seed in range(1, args.seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/instance.json"
            keys = {"slice.jobs": args.jobs, "slice.at": "start", "cluster.servers": 4, "cluster.gpusPerServer": 8,
                    "cluster.inter": "10Gbps", "offeredLoad": args.load, "round": f"{SLOT}s", "iteration": f"{SLOT}s"}
            sets = [word for key, value in keys.items() for word in ("-s", f"{key}={value}")]
            trace = f"builtin:sjf-bsbf-testbed?jobs={args.jobs}&seed={seed}"
            subprocess.run([args.bench, "instance", "build", trace, *sets, "-o", path], check=True, capture_output=True)
            found = {}
            for name in rows:
                if name == "exhaustive":
                    found[name] = ours(args.bench, path, args.objective, args.limit)
                else:
                    found[name] = theirs(name, args, path, folder)
            best = min(cost for cost, _, _ in found.values())
            for name, (cost, bound, took) in found.items():
                if bound > best + 1e-6:
                    sys.exit(f"compare.py: seed {seed}: {name} claims the bound {bound}, and there is a schedule of {best}")
                rows[name].append((cost, bound, took, best))
                print(f"seed {seed}  {name:15} {cost:10.0f} {bound:10.0f}  {took:6.2f} s", file=sys.stderr)
    print(f"{args.jobs} jobs, load {args.load}, {args.objective}, {args.limit:g} s each, seeds 1 to {args.seeds}")
    print("| solver | proven | best schedule | worst gap to its own bound | processor time, median and in all |")
    print("|---|---|---|---|---|")
    for name, results in rows.items():
        n = len(results)
        proven = sum(cost <= bound + 1e-6 for cost, bound, _, _ in results)
        good = sum(cost <= best + 1e-6 for cost, _, _, best in results)
        gaps = [100 * (cost - bound) / cost if math.isfinite(cost) else 100.0 for cost, bound, _, _ in results]
        took = sorted(t for _, _, t, _ in results)
        print(f"| {name} | {proven} of {n} | {good} of {n} | {max(gaps):.1f} % | {took[n // 2]:.2f}, {sum(took):.1f} s |")


if __name__ == "__main__":
    main()
