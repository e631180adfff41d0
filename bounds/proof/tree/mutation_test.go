package tree_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/bounds/proof/treecheck"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// swaps are changes of one condition of a checker each. For every one there must be a
// proof that the true checker refuses and the changed one accepts: otherwise nobody knows
// that the condition is needed, and tested. Requirements are left out besides, one by one.
var swaps = map[string][][2]string{
	tree.CheckerName: {
		{"held <= self.capacity", "held <= self.capacity + 1"},
		{"if t <= s < end)", "if t < s < end)"},
		{"max(ends) if self.makespan else sum(", "max(ends) if not self.makespan else sum("},
		{"K * (value - 1)", "K * (value - 2)"},
		{"value - 1 - p if", "value - 2 - p if"},
		{"p * (b - a) for p", "p for p"},
		{"p + rest if p + rest > without else without", "without"},
		{"p + rest if p + rest > without else without", "max(without, rest)"},
		{"[0] * (problem.capacity + 1)", "[0] * problem.capacity"},
		{"return best[-1]", "return max(pay)"},
		{"self.problem.weight[j] * end + self", "self.problem.weight[j] * (end + 1) + self"},
		{"for g in (*problem.gang, problem.capacity)", "for g in (*(g + 1 for g in problem.gang), problem.capacity)"},
		{"if 0 <= x < self.latest[j]", "if self.latest[j] < x"},
		{"for x in (t, t - self.problem.duration[j])", "for x in (t,)"},
		{"costs[i] = min(costs[i], costs[i + 1])", "costs[i] = max(costs[i], costs[i + 1])"},
		{"min([self.at(j, earliest)] + costs[i : i + 1])", "self.at(j, earliest)"},
		{"any(e > self.latest[j]", "any(e >= self.latest[j]"},
		{"sum([self.until(j, end) - self.until(j, now) for", "sum([self.until(j, end) for"},
		{"return self.K * cost + paid", "return self.K * cost + 2 * paid"},
		{"for g in (*problem.gang, problem.capacity)", "for g in (*problem.gang, problem.capacity - 1)"},
		{"self.until(-1, now)) > self.goal", "self.until(-1, now)) >= self.goal"},
		{"nodes = [(min(release),", "nodes = [(max(release),"},
		{"gang[j] <= free\n", "gang[j] < free\n"},
		{"release[j] <= now and", "release[j] < now and"},
		{"(release[j] == now or gang[j] > before)", "gang[j] > before"},
		{"(release[j] == now or gang[j] > before)", "release[j] == now"},
		{"gang[j] > before)]", "gang[j] > before + 1)]"},
		{"for j in waiting[asked:] if", "for j in waiting[asked + 1:] if"},
		{"+ [release[j] for j in waiting if release[j] > now]", "+ []"},
		{"before, now, asked = free, min(events), 0", "before, now, asked = free, max(events), 0"},
		{"before, now, asked = free, min(events), 0", "before, now, asked = free, min(events), asked"},
		{"before, now, asked = free, min(events), 0", "before, now, asked = problem.capacity, min(events), 0"},
		{"free += sum(gang[j] for end, j in running if end == now)", "free += 0"},
		{"min(events + [now + duration[j] for j in may])", "max(events + [now + duration[j] for j in may])"},
		{"min(events + [now + duration[j] for j in may])", "min(events or [10**9])"},
		{"now if j in may else max(later, release[j])", "max(later, release[j])"},
		{"now if j in may else max(later, release[j])", "now if j in may else max(later, release[j]) + 1"},
		{"waiting, at + 1))  # j does", "waiting, at + 2))  # j does"},
		{"if not problem.makespan or end < value:", "if not problem.makespan or end < value - 1:"},
		{"free - gang[j], cost", "free - gang[j] - 1, cost"},
		{"cost + weight[j] * end, running", "cost + weight[j] * end + 1, running"},
	},
	tree.ServersCheckerName: {
		{"for h, t, end in zip(held, starts, ends) if t <= s < end)", "for h, t, end in zip(held, starts, ends) if t < s < end)"},
		{"self.servers[m] == size and free[m] >= g", "self.servers[m] == size and free[m] > g"},
		{"if self.release[j] == now or any(", "if any("},
		{"any(g > b for g, b in zip(held, before))", "False"},
		{", tuple(sorted((end, held[m]) for end, held, _ in running if held[m] > 0)))", ")"}, // which servers are alike
		{"ways = list(longer.values())", "ways = list(longer.values())[:1]"},
		{"in reversed(in_time[j]):", "in in_time[j][:1]:"},
		{"before, now, asked = free, min(events), 0", "before, now, asked = problem.servers, min(events), 0"},
		{"min(p[0] for p in patterns))  # the least", "max(p[0] for p in patterns))  # the least"},
		{"self.gang.append(min(", "self.gang.append(1 + min("},
		{"sum(prices.until(j, end) - prices.until(j, now) for", "sum(prices.until(j, end) for"},
		{"paid - (prices.sum[-1][-1] - prices.until(-1, now))", "paid - (prices.sum[0][-1] - prices.until(0, now))"},
		{"> prices.goal", ">= prices.goal"},
		{"costs.append(prices[j, later])", "costs.append(prices[j, later + 1])"},
		{"for j in waiting[asked:] if release[j] <= now}", "for j in waiting[asked + 1:] if release[j] <= now}"},
		{"if not problem.makespan or now + d < value] for", "if not problem.makespan or now + d < value - 1] for"},
		{"min(events + [now + d for ways in may.values() for d, _ in ways])", "max(events + [now + d for ways in may.values() for d, _ in ways])"},
		{"waiting, at + 1))  # j does", "waiting, at + 2))  # j does"},
		{"cost + weight[j] * (now + d)", "cost + weight[j] * (now + d) + 1"},
		{"sum(held[m] for end, held, _ in running if end == now)", "0"},
	},
}

// harmless are changes after which the checkers accept nothing false, and why.
var harmless = map[string][][3]string{
	tree.CheckerName: {
		{"self.sum[j][i] + self.v[j][i] * (time - self.t[i])", "self.sum[j][i]",
			"as if all times were rounded down to changes of price: that keeps what runs beside each other, and no start between two of them is cheaper than the first of these or the earliest start"},
		{"waiting[:at] + waiting[at + 1:], at))", "waiting[:at], at))",
			"a job less to wait for: what is left costs no more, and has the same lemmas"},
	},
	tree.ServersCheckerName: {
		{"kind = [(size, before[m], free[m], tuple(", "kind = [(size, free[m], tuple(",
			"of two servers that differ only in what was free before, a job on the one could as well be on the other from now on; if it could start there sooner, the schedule is not shifted to the left"},
		{"kind = [(size, before[m], free[m], tuple(", "kind = [(size, before[m], tuple(",
			"what is free follows from the size and what runs"},
		{"waiting[:at] + waiting[at + 1:], at))", "waiting[:at], at))",
			"a job less to wait for: what is left costs no more, and has the same lemmas"},
	},
}

// left are requirements without which nothing false is accepted, by the start of their
// message, and why they are there.
var left = map[string]string{
	"problem.capacity <= 10**5":             "a knapsack of more GPUs takes time and memory, and is as true",
	"K > 0":                                 "with a scale of 0 no prices close a node: all jobs pay as much as all GPUs cost, or less",
	"fits":                                  "a job without a pattern has no duration, which ends the program by itself",
	"answer <= len(prices)":                 "an answer beyond the last prices ends the program by itself",
	"data.isascii()":                        "a file that is no text has no lines that can be read",
	"line() == \"yardstick-problem 1\"":     "the format's name: another format has other keys",
	"line() == \"yardstick-servers 1\"":     "the format's name: another format has other keys",
	"line() == kind":                        "the format's name: another format has other keys",
	"all(len(h) == len(self.servers)":       "a number too few ends the program, and one too many is not read",
	"line() == \"\"":                        "what follows the jobs is not read; the hash is of all",
	"len(places) == n":                      "without enough places some job has no pattern",
	"self.makespan is not None":             "of the problem, which is compared with the instance",
	"min(self.duration) > 0":                "of the problem, which is compared with the instance",
	"all(1 <= g <= self.capacity":           "of the problem, which is compared with the instance",
	"not self.makespan or max(self.weight)": "of the problem, which is compared with the instance",
	"rows and all(len(row)":                 "of the problem, which is compared with the instance",
	"len(row) == 3":                         "of the problem, which is compared with the instance",
	"patterns and all(":                     "of the problem, which is compared with the instance",
	"min(p[0] for p in patterns) > 0":       "of the problem, which is compared with the instance",
	"self.release and line()":               "of the problem, which is compared with the instance",
}

// mutants returns the changed checkers by what was changed.
func mutantsOf(t *testing.T, name string) map[string]string {
	t.Helper()
	text := string(tree.Checkers()[name])
	list := map[string]string{}
	all := slices.Clone(swaps[name])
	for _, s := range harmless[name] {
		all = append(all, [2]string{s[0], s[1]})
	}
	for _, s := range all {
		changed := strings.Replace(text, s[0], s[1], 1)
		if changed == text {
			t.Errorf("%s has no %q", name, s[0])
		}
		list[s[0]+" → "+s[1]] = changed
	}
	parts := strings.Split(text, " require(")
	for k := 1; k < len(parts); k++ {
		if strings.HasSuffix(parts[k-1], "def") {
			continue
		}
		line, _, _ := strings.Cut(parts[k], "\n")
		list["without require("+line] = strings.Join(parts[:k], " require(") + " (lambda *_: None)(" + strings.Join(parts[k:], " require(")
	}
	return list
}

const mutationDriver = `
import json, signal, sys, types

def late(*_):
    raise TimeoutError  # a changed checker may go on forever

signal.signal(signal.SIGVTALRM, late)
pairs, mutants = json.load(open("pairs.json")), json.load(open("mutants.json"))
pairs = [(p.encode(), c.encode()) for p, c in pairs]
goals = json.load(open("goals.json"))
found = {}

def attack(changed, problem, head, prices):
    """Whether some answers make a checker accept a false claim: prices are tried at each node, the last first."""
    answers = []
    for _ in range(60 if prices else 300):
        body = " ".join(map(str, answers)) + "\n" if answers else ""
        try:
            changed.check(problem, (head + body + "end\n").encode())
            return True
        except TimeoutError:
            raise
        except Exception as reason:
            if "not enough answers" in str(reason) and len(answers) < (24 if prices else 300):
                answers.append(prices)
            elif "do not close" in str(reason):
                answers[-1] -= 1
            else:
                return False
    return False

for name, (module, text) in mutants.items():
    import check_tree
    changed = types.ModuleType("changed")
    exec(compile(text, module, "exec"), changed.__dict__)
    found[name] = -1
    for i, (problem, certificate) in enumerate(pairs):
        if problem.startswith(b"yardstick-servers") != (module == "check_servers.py"):
            continue
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
            changed.check(problem, certificate)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except TimeoutError:
            break
        except Exception:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            continue
        found[name] = i
        break
    for problem, head, prices in goals:
        if found[name] >= 0 or problem.startswith("yardstick-servers") != (module == "check_servers.py"):
            continue
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.1 if prices else 1)
            if attack(changed, problem.encode(), head, prices):
                found[name] = len(pairs)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except TimeoutError:
            pass
print(json.dumps(found))
`

// TestMutatedCheckers: every condition of the checkers is needed, and some proof shows it.
func TestMutatedCheckers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		schedtest.Missing(t, "python3 is missing: install it to run the checker of trees")
	}
	tier.Slow(t)
	var pairs [][2]string
	var goals [][3]any // false claims: the problem, the certificate up to its answers, the number of prices
	aim := func(r *rand.Rand, p *proof.Problem, c *tree.Certificate, value *big.Int, starts, places []int64) {
		text := string(c.Text)
		at := strings.Index(text, "\nprices ")
		var rest []string // prices
		lines := strings.Split(text[at+1:], "\n")
		rest = append(rest, lines[1:1+c.Prices]...)
		scale, _ := strconv.ParseInt(string(field(text, "scale")), 10, 64)
		for range 5 { // prices of somebody who looks for what the checker does wrong
			at, line := int64(0), "1 "
			for range 1 + r.IntN(3) {
				line += fmt.Sprintf("%d %d ", at, r.Int64N(3*scale))
				at += 1 + r.Int64N(2*p.Jobs[r.IntN(len(p.Jobs))].Duration)
			}
			rest = append(rest, line+strconv.FormatInt(at, 10))
			line = fmt.Sprintf("%d 0", len(p.Jobs)) // prices of each job
			for range p.Jobs {
				line += fmt.Sprintf(" %d", r.Int64N(3*scale))
			}
			rest = append(rest, fmt.Sprintf("%s %d", line, at))
		}
		head, kind := "yardstick-tree 2", "bound"
		if p.Servers != nil {
			head = "yardstick-tree-on-servers 2"
		}
		if starts != nil {
			kind = "optimum"
		}
		words := func(list []int64) string { return strings.Trim(fmt.Sprint(list), "[]") }
		head += fmt.Sprintf("\nproblem %s\nclaim %s\nvalue %v\nscale %s\norder %s\nstarts %s\n", p.Hash(), kind, value, field(text, "scale"), strings.Trim(fmt.Sprint(r.Perm(len(p.Jobs))), "[]"), words(starts))
		if p.Servers != nil {
			head += "places " + words(places) + "\n"
		}
		goals = append(goals, [3]any{string(p.Text()), head + fmt.Sprintf("prices %d\n", len(rest)) + strings.Join(rest, "\n") + "\n", len(rest)})
	}
	early := func(r *rand.Rand, p *proof.Problem, c *tree.Certificate, cost *big.Int, before int64, held [][]int64) { // all at their releases, or before
		total := new(big.Int)
		var starts []int64
		for i, j := range p.Jobs {
			d := j.Duration
			if held != nil {
				d, _ = p.DurationOn(i, held[i])
			}
			starts = append(starts, max(0, j.Release-before))
			end := big.NewInt(starts[i] + d)
			if !p.Makespan {
				total.Add(total, end.Mul(end, big.NewInt(j.Weight)))
			} else if end.Cmp(total) > 0 {
				total = end
			}
		}
		last := len(starts) - 1
		if !p.Makespan { // a job less
			end := big.NewInt(starts[last] + p.Jobs[last].Duration)
			if held == nil {
				aim(r, p, c, new(big.Int).Sub(cost, big.NewInt(1)), starts, nil)
				most := int64(0)
				for i, at := range starts {
					most = max(most, at+p.Jobs[i].Duration)
				}
				aim(r, p, c, big.NewInt(most), starts, nil) // as if it were a makespan
				aim(r, p, c, new(big.Int).Sub(total, end.Mul(end, big.NewInt(p.Jobs[last].Weight))), starts[:last], nil)
			} else {
				d, _ := p.DurationOn(last, held[last])
				end.SetInt64(starts[last] + d)
				aim(r, p, c, new(big.Int).Sub(total, end.Mul(end, big.NewInt(p.Jobs[last].Weight))), starts[:last], slices.Concat(held[:last]...))
			}
		}
		if total.Cmp(cost) < 0 {
			aim(r, p, c, total, starts, slices.Concat(held...))
		}
	}
	refused := func(problem []byte, certificate string) {
		if _, err := treecheck.Check(problem, []byte(certificate)); err != nil {
			pairs = append(pairs, [2]string{string(problem), certificate})
		}
	}
	for seed := range 14 {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		in, obj := pooled(r, 2+r.IntN(3))
		p, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		cost, starts := best(p)
		c := hostiles(t, r, p, proof.Claim{Value: cost, Starts: starts}, refused)
		aim(r, p, c, plus(cost, 1), nil, nil)
		early(r, p, c, cost, 0, nil)
		early(r, p, c, cost, 1, nil)
	}
	for seed := range 14 {
		r := rand.New(rand.NewPCG(uint64(seed), 78))
		_, p, claim, _ := onServers(t, r, schedtest.Shape{Jobs: 2 + r.IntN(2), Servers: 2, GPUs: 1 + r.IntN(3), Stages: 2, Traffic: true, Weights: true})
		c := hostiles(t, r, p, claim, refused)
		aim(r, p, c, plus(claim.Value, 1), nil, nil)
		early(r, p, c, claim.Value, 0, claim.Held)
		early(r, p, c, claim.Value, 1, claim.Held)
	}
	goals = append(goals, madeFor(t)...)
	dir := t.TempDir()
	mutants := map[string][2]string{}
	for name := range swaps {
		for what, text := range mutantsOf(t, name) {
			mutants[name+": "+what] = [2]string{name, text}
		}
	}
	for name, v := range map[string]any{"pairs.json": pairs, "goals.json": goals, "mutants.json": mutants} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, tree.CheckerName), tree.Checkers()[tree.CheckerName], 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", "-c", mutationDriver)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var found map[string]int
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, i := range found {
		_, condition, _ := strings.Cut(name, "without require(")
		known := slices.ContainsFunc(slices.Collect(maps.Keys(left)), func(start string) bool { return condition != "" && strings.HasPrefix(condition, start) })
		safe := slices.ContainsFunc(harmless[strings.SplitN(name, ": ", 2)[0]], func(s [3]string) bool { return strings.HasSuffix(name, ": "+s[0]+" → "+s[1]) })
		switch {
		case safe && i >= 0:
			t.Errorf("said to be harmless, and accepts something false: %s", name)
		case i < 0 && !known && !safe:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t.Errorf("no hostile proof needs it: %s", name)
	}
	t.Logf("%d changed checkers, %d hostile proofs", len(found), len(pairs))
}

// hostiles hands out false claims with proofs that look right, and damaged ones.
func hostiles(t *testing.T, r *rand.Rand, p *proof.Problem, claim proof.Claim, refused func(problem []byte, certificate string)) *tree.Certificate {
	t.Helper()
	c := prove(t, p, claim)
	good := string(c.Text)
	bound := string(prove(t, p, proof.Claim{Value: claim.Value}).Text)
	line := func(v fmt.Stringer) string { return "\nvalue " + v.String() + "\n" }
	for _, text := range []string{good, bound} {
		for _, d := range []int64{1, -1, 2} {
			refused(p.Text(), strings.Replace(text, line(claim.Value), line(plus(claim.Value, d)), 1))
		}
		for range 25 {
			refused(p.Text(), damage(r, text))
		}
	}
	// The tree of a problem that is harder, or easier, with the hash of this one.
	for range 12 {
		q := *p
		q.Jobs = append([]proof.Job(nil), p.Jobs...)
		j := &q.Jobs[r.IntN(len(q.Jobs))]
		switch r.IntN(4) {
		case 0:
			j.Release += int64(r.IntN(3))
		case 1:
			j.Weight += int64(r.IntN(2))
			if p.Makespan {
				j.Weight = 0
			}
		case 2:
			j.Release = max(0, j.Release-1)
		}
		if p.Servers == nil {
			switch r.IntN(3) {
			case 0:
				j.Duration++
			case 1:
				j.Gang = min(j.Gang+1, p.Capacity)
			}
		}
		for value := int64(-2); value <= 2; value++ {
			c, err := tree.Prove(t.Context(), &q, proof.Claim{Value: plus(claim.Value, value)}, tree.Limits{Nodes: 200})
			if err == nil {
				refused(p.Text(), strings.Replace(string(c.Text), q.Hash(), p.Hash(), 1))
			}
		}
	}
	return c
}

// madeFor returns false claims for changes that random ones do not show.
func madeFor(t *testing.T) (goals [][3]any) {
	t.Helper()
	base, err := proof.New(schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 1, 1)), sched.TotalCompletion, continuous)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(p proof.Problem, value int, scale string, prices ...string) {
		head := "yardstick-tree 2"
		places := ""
		if p.Servers != nil {
			head, places = "yardstick-tree-on-servers 2", "places \n"
		}
		var order []int
		for i := range p.Jobs {
			order = append(order, i)
		}
		head += fmt.Sprintf("\nproblem %s\nclaim bound\nvalue %d\nscale %s\norder %s\nstarts \n%sprices %d\n", p.Hash(), value, scale, strings.Trim(fmt.Sprint(order), "[]"), places, len(prices))
		for _, line := range prices {
			head += line + "\n"
		}
		goals = append(goals, [3]any{string(p.Text()), head, len(prices)})
	}
	// The second job is cheapest where its end meets a higher price: at 1, which is
	// neither a change of price nor its earliest start. The optimum is 30.
	p := *base
	p.Capacity, p.Jobs = 1, []proof.Job{{Release: 0, Duration: 1, Gang: 1, Weight: 10}, {Release: 0, Duration: 5, Gang: 1, Weight: 1}, {Release: 6, Duration: 1, Gang: 1, Weight: 2}}
	claim(p, 31, "2", "1 0 3 4 0 6 4 7")
	// Three jobs that fit together cost 3. With prices of two of them, the third one would
	// pay what these do together, and nobody would count it.
	p = *base
	p.Capacity, p.Jobs = 3, []proof.Job{{Duration: 1, Gang: 1, Weight: 1}, {Duration: 1, Gang: 1, Weight: 1}, {Duration: 1, Gang: 1, Weight: 1}}
	claim(p, 4, "2", "2 0 1 1 1")
	// The third job has to join the first one, that ends soon, or leave a server to the
	// last one otherwise. The optimum is 166, and 167 with the first and second job on one server.
	p = *base
	p.Servers, p.Capacity, p.Jobs = []int64{2, 2}, 4, nil
	for _, j := range [][4]int64{{0, 1, 1, 1}, {0, 100, 1, 1}, {0, 10, 1, 1}, {1, 10, 2, 5}} { // release, duration, GPUs, weight
		p.Jobs = append(p.Jobs, proof.Job{Release: j[0], Duration: j[1], Gang: j[2], Weight: j[3],
			Patterns: []proof.Pattern{{Duration: j[1], Parts: []proof.Part{{Size: 2, GPUs: j[2]}}}}})
	}
	claim(p, 167, "1")
	return goals
}
