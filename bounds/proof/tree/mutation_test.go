package tree_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/bounds/proof/treecheck"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
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
		{"self.sum[-1] + price *", "price *"},
		{"self.sum[i] + self.v[i] * (time - self.t[i])", "self.sum[i]"},
		{"return self.K * p.weight[j] * end + p.gang", "return self.K * p.weight[j] * (end + 1) + p.gang"},
		{"p.gang[j] * (self.until(end)", "(p.gang[j] + 1) * (self.until(end)"},
		{"for x in (t, t - self.problem.duration[j])", "for x in (t,)"},
		{"if 0 <= x < self.latest[j]", "if self.latest[j] < x"},
		{"costs[i] = min(costs[i], costs[i + 1])", "costs[i] = max(costs[i], costs[i + 1])"},
		{"min([self.at(j, earliest)] + costs[i : i + 1])", "self.at(j, earliest)"},
		{"any(e > self.latest[j]", "any(e >= self.latest[j]"},
		{"sum(g * (self.until(end) - self.until(now))", "sum(g * self.until(end)"},
		{"return self.K * cost + paid", "return self.K * cost + 2 * paid"},
		{"- self.problem.capacity * (", "- (self.problem.capacity - 1) * ("},
		{"self.sum[-1] - self.until(now)) > self.goal", "self.sum[-1] - self.until(now)) >= self.goal"},
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
		{"free += sum(g for end, g in running if end == now)", "free += 0"},
		{"min(events + [now + duration[j] for j in may])", "max(events + [now + duration[j] for j in may])"},
		{"min(events + [now + duration[j] for j in may])", "min(events or [10**9])"},
		{"now if j in may else max(later, release[j])", "max(later, release[j])"},
		{"now if j in may else max(later, release[j])", "now if j in may else max(later, release[j]) + 1"},
		{"waiting, at + 1))  # j does", "waiting, at + 2))  # j does"},
		{"if not problem.makespan or end < value:", "if not problem.makespan or end < value - 1:"},
		{"free - gang[j], cost", "free - gang[j] - 1, cost"},
		{"cost + weight[j] * end, running", "cost + weight[j] * end + 1, running"},
		{"waiting[:at] + waiting[at + 1:], at))", "waiting[:at], at))"},
	},
	tree.ServersCheckerName: {
		{"for h, t, end in zip(held, starts, ends) if t <= s < end)", "for h, t, end in zip(held, starts, ends) if t < s < end)"},
		{"(size, before[m], free[m], tuple(", "(size, before[m], free[m], ()) and (0, tuple("},
		{"self.servers[m] == size and free[m] >= g", "self.servers[m] == size and free[m] > g"},
		{"if self.release[j] == now or any(", "if any("},
		{"any(g > b for g, b in zip(held, before))", "False"},
		{"min(p[0] for p in patterns))  # the least", "max(p[0] for p in patterns))  # the least"},
		{"self.gang.append(min(", "self.gang.append(1 + min("},
		{"sum(sum(held) * (prices.until(end)", "sum((1 + sum(held)) * (prices.until(end)"},
		{"return prices.K * cost + paid - problem.capacity * (", "return prices.K * cost + paid - (problem.capacity - 1) * ("},
		{"> prices.goal", ">= prices.goal"},
		{"costs.append(prices.least(j, later))", "costs.append(prices.least(j, later + 1))"},
		{"for j in waiting[asked:] if release[j] <= now}", "for j in waiting[asked + 1:] if release[j] <= now}"},
		{"now, before, free, cost, running, waiting, asked = nodes.pop()", "now, before, free, cost, running, waiting, asked = nodes.pop(); before = problem.servers"},
		{"if not problem.makespan or now + d < value] for", "if not problem.makespan or now + d < value - 1] for"},
		{"min(events + [now + d for ways in may.values() for d, _ in ways])", "max(events + [now + d for ways in may.values() for d, _ in ways])"},
		{"reversed(in_time[j])", "reversed(in_time[j][:1])"},
		{"waiting, at + 1))  # j does", "waiting, at + 2))  # j does"},
		{"cost + weight[j] * (now + d)", "cost + weight[j] * (now + d) + 1"},
		{"sum(held[m] for end, held in running if end == now)", "0"},
	},
}

// left are requirements without which nothing false is accepted, by the start of their
// message, and why they are there.
var left = map[string]string{}

// mutants returns the changed checkers by what was changed.
func mutantsOf(t *testing.T, name string) map[string]string {
	t.Helper()
	text := string(tree.Checkers()[name])
	list := map[string]string{}
	for _, s := range swaps[name] {
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

signal.signal(signal.SIGALRM, late)
pairs, mutants = json.load(open("pairs.json")), json.load(open("mutants.json"))
pairs = [(p.encode(), c.encode()) for p, c in pairs]
found = {}
for name, (module, text) in mutants.items():
    import check_tree
    changed = types.ModuleType("changed")
    exec(compile(text, module, "exec"), changed.__dict__)
    found[name] = -1
    for i, (problem, certificate) in enumerate(pairs):
        if problem.startswith(b"yardstick-servers") != (module == "check_servers.py"):
            continue
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            changed.check(problem, certificate)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except TimeoutError:
            break
        except Exception:
            signal.setitimer(signal.ITIMER_REAL, 0)
            continue
        found[name] = i
        break
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
	refused := func(problem []byte, certificate string) {
		if _, err := treecheck.Check(problem, []byte(certificate)); err != nil {
			pairs = append(pairs, [2]string{string(problem), certificate})
		}
	}
	for seed := range 40 {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		in, obj := pooled(r, 2+r.IntN(3))
		p, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		cost, starts := best(p)
		hostiles(t, r, p, proof.Claim{Value: cost, Starts: starts}, refused)
	}
	for seed := range 40 {
		r := rand.New(rand.NewPCG(uint64(seed), 78))
		_, p, claim, _ := onServers(t, r, schedtest.Shape{Jobs: 2 + r.IntN(2), Servers: 2, GPUs: 1 + r.IntN(3), Stages: 2, Traffic: true, Weights: true})
		hostiles(t, r, p, claim, refused)
	}
	dir := t.TempDir()
	mutants := map[string][2]string{}
	for name := range swaps {
		for what, text := range mutantsOf(t, name) {
			mutants[name+": "+what] = [2]string{name, text}
		}
	}
	for name, v := range map[string]any{"pairs.json": pairs, "mutants.json": mutants} {
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
		if i < 0 {
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
func hostiles(t *testing.T, r *rand.Rand, p *proof.Problem, claim proof.Claim, refused func(problem []byte, certificate string)) {
	t.Helper()
	good := string(prove(t, p, claim).Text)
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
}
