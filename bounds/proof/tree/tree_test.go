package tree_test

import (
	"context"
	"errors"
	"fmt"
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
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

var continuous = sched.Class{Kind: sched.N}

// pair is a problem and a certificate, and what a checker is to make of them.
type pair struct {
	name                 string
	problem, certificate []byte
	// holds says whether the claim is true, or is nil where it must be refused.
	holds func() bool
}

// driver lets check_tree.py check all pairs of a folder in one process. Its verdicts are
// those of the program: it calls check, and catches what the program catches.
const driver = `
import sys, check_tree, check_servers
for i in range(int(sys.argv[1])):
    try:
        with open("%d.txt" % i, "rb") as p, open("%d.cert" % i, "rb") as c:
            problem = p.read()
            (check_servers if problem.startswith(b"yardstick-servers") else check_tree).check(problem, c.read())
        print("holds")
    except check_tree.Refused as reason:
        print("refused")
`

// judge lets both checkers decide on all pairs. They must agree, and accept what is to be
// accepted and only what is true.
func judge(t *testing.T, pairs []pair, mustHold bool) (accepted int) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		schedtest.Missing(t, "python3 is missing: install it to run the checker of trees")
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range tree.Checkers() {
		write(name, text)
	}
	for i := range pairs {
		write(strconv.Itoa(i)+".txt", pairs[i].problem)
		write(strconv.Itoa(i)+".cert", pairs[i].certificate)
	}
	cmd := exec.Command(python, "-B", "-c", driver, strconv.Itoa(len(pairs)))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the checker fails: %v\n%s", err, out)
	}
	verdicts := strings.Fields(string(out))
	if len(verdicts) != len(pairs) {
		t.Fatalf("%d verdicts on %d pairs", len(verdicts), len(pairs))
	}
	for i, p := range pairs {
		_, err := treecheck.Check(p.problem, p.certificate)
		if err != nil && !errors.Is(err, treecheck.ErrRefused) {
			t.Fatalf("%s: %v", p.name, err)
		}
		python := verdicts[i] == "holds"
		switch {
		case python != (err == nil):
			t.Errorf("%s: check_tree.py says %s, and treecheck %v\n%s%s", p.name, verdicts[i], err, p.problem, p.certificate)
		case mustHold && !python:
			t.Errorf("%s: refused: %v", p.name, err)
		case python && (p.holds == nil || !p.holds()):
			t.Errorf("%s: accepted, and not true\n%s%s", p.name, p.problem, p.certificate)
		}
		if python {
			accepted++
		}
	}
	return accepted
}

// pooled returns a random instance whose gangs run equally long wherever they are, on one
// server, so that schedtest.BruteForce is an oracle for the pool.
func pooled(r *rand.Rand, jobs int) (*sched.Instance, sched.Objective) {
	in := schedtest.Gang(r, schedtest.Shape{Jobs: jobs, Servers: 1, GPUs: 1 + r.IntN(6), Stages: 1, Weights: r.IntN(2) == 0})
	if r.IntN(2) == 0 { // few different times: many ends and releases at once
		for i := range in.Jobs {
			j := &in.Jobs[i]
			j.Release, j.Load, j.Iters = sched.Time(r.IntN(6)), 0, 1
			j.Stages[0].Compute, j.Stages[0].Params = sched.Duration(1000*(1+r.IntN(4))), 0
		}
	}
	if r.IntN(4) == 0 {
		in.Jobs[0].Weight = []float64{0.5, 0.1, 3}[r.IntN(3)]
	}
	totals := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}
	return in, totals[r.IntN(len(totals))]
}

// best returns the least cost over all orders of the jobs, each at the first place where
// it fits: one of these schedules is best.
func best(p *proof.Problem) (cost *big.Int, starts []int64) {
	var try func(order []int, k int)
	try = func(order []int, k int) {
		if k < len(order) {
			for i := k; i < len(order); i++ {
				order[k], order[i] = order[i], order[k]
				try(order, k+1)
				order[k], order[i] = order[i], order[k]
			}
			return
		}
		list := p.List(order)
		if c, err := p.Evaluate(list); err != nil {
			panic(err)
		} else if cost == nil || c.Cmp(cost) < 0 {
			cost, starts = c, list
		}
	}
	order := make([]int, len(p.Jobs))
	for i := range order {
		order[i] = i
	}
	try(order, 0)
	return cost, starts
}

func prove(t *testing.T, p *proof.Problem, claim proof.Claim) *tree.Certificate {
	t.Helper()
	c, err := tree.Prove(context.Background(), p, claim, tree.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Text())
	}
	return c
}

func plus(v *big.Int, d int64) *big.Int { return new(big.Int).Add(v, big.NewInt(d)) }

// Every optimum is proven, from any schedule to start with; what is not one is refused.
func TestTinyOptima(t *testing.T) {
	var good, bad []pair
	schedtest.EachSeed(t, tier.Draws(100, 1500), func(t *testing.T, r *rand.Rand) {
		in, obj := pooled(r, 2+r.IntN(4))
		p, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		_, optimum := schedtest.BruteForce(in, obj)
		cost, starts := best(p)
		if p.Value(cost).Cmp(optimum) != 0 {
			t.Fatalf("the problem has the optimum %v, and the instance %v\n%s", p.Value(cost), optimum, p.Text())
		}
		if p.Cost(optimum).Cmp(cost) != 0 {
			t.Fatalf("the optimum %v is the cost %v, and not %v", optimum, p.Cost(optimum), cost)
		}
		first := p.List(r.Perm(len(p.Jobs)))
		value, err := p.Evaluate(first)
		if err != nil {
			t.Fatal(err)
		}
		c := prove(t, p, proof.Claim{Value: value, Starts: first})
		if c.Claim.Value.Cmp(cost) != 0 {
			t.Fatalf("%v is proven, and the optimum is %v\n%s", c.Claim.Value, cost, p.Text())
		}
		good = append(good, pair{"optimum", p.Text(), c.Text, func() bool { return true }})
		bound := prove(t, p, proof.Claim{Value: cost})
		good = append(good, pair{"bound", p.Text(), bound.Text, func() bool { return true }})
		_, err = tree.Prove(context.Background(), p, proof.Claim{Value: plus(cost, 1)}, tree.Limits{})
		var cheaper *proof.CheaperError
		if !errors.As(err, &cheaper) || cheaper.Cost.Cmp(cost) < 0 {
			t.Fatalf("a bound above the optimum: %v", err)
		}
		// The same tree does not prove another value: neither as it is, nor with the
		// best schedule of what is claimed.
		line := func(v *big.Int) string { return fmt.Sprintf("\nvalue %v\n", v) }
		for _, d := range []int64{1, -1} {
			text := strings.Replace(string(c.Text), line(cost), line(plus(cost, d)), 1)
			bad = append(bad, pair{"optimum±1", p.Text(), []byte(text), nil})
		}
		text := strings.Replace(string(bound.Text), line(cost), line(plus(cost, 1)), 1)
		bad = append(bad, pair{"bound+1", p.Text(), []byte(text), nil})
		bad = append(bad, mutants(t, r, p, c, cost, starts)...)
	})
	judge(t, good, true)
	if n := judge(t, bad, false); n > len(bad)/2 {
		t.Errorf("%d of %d changed proofs are accepted", n, len(bad))
	}
}

// mutants returns the proof beside other problems: as it is, which the hash tells, and
// with the hash of the other problem, where the claim may still be true.
func mutants(t *testing.T, r *rand.Rand, p *proof.Problem, c *tree.Certificate, cost *big.Int, starts []int64) (list []pair) {
	t.Helper()
	change := map[string]func(q *proof.Problem, j *proof.Job){
		"capacity": func(q *proof.Problem, _ *proof.Job) { q.Capacity++ },
		"duration": func(_ *proof.Problem, j *proof.Job) { j.Duration += int64(1 - 2*r.IntN(2)) },
		"release":  func(_ *proof.Problem, j *proof.Job) { j.Release += int64(1 + r.IntN(3)) },
		"weight":   func(_ *proof.Problem, j *proof.Job) { j.Weight++ },
		"dropped":  func(q *proof.Problem, _ *proof.Job) { q.Jobs = q.Jobs[1:] },
	}
	for name, apply := range change {
		q := *p
		q.Jobs = append([]proof.Job(nil), p.Jobs...)
		apply(&q, &q.Jobs[r.IntN(len(q.Jobs))])
		list = append(list, pair{name + ", hash", q.Text(), c.Text, nil})
		rehashed := strings.Replace(string(c.Text), p.Hash(), q.Hash(), 1)
		list = append(list, pair{name + ", content", q.Text(), []byte(rehashed), func() bool {
			if p.Makespan && name == "weight" || len(q.Jobs) != len(starts) {
				return false
			}
			v, _ := best(&q)
			return v.Cmp(cost) == 0
		}})
	}
	return list
}

// What the checkers accept is true, whatever is written.
func TestHostileCertificates(t *testing.T) {
	var pairs []pair
	schedtest.EachSeed(t, tier.Draws(60, 600), func(t *testing.T, r *rand.Rand) {
		in, obj := pooled(r, 2+r.IntN(3))
		p, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		cost, starts := best(p)
		claim := proof.Claim{Value: cost, Starts: starts}
		if r.IntN(2) == 0 {
			claim.Starts = nil
		}
		text := prove(t, p, claim).Text
		for k := range 16 {
			hostile := damage(r, string(text))
			if k >= 12 {
				hostile = damagePrices(r, p, string(text))
			}
			pairs = append(pairs, pair{"hostile", p.Text(), []byte(hostile), func() bool {
				value := field(hostile, "value")
				if field(hostile, "claim") == "optimum" {
					return value.Cmp(cost) == 0
				}
				return value.Cmp(cost) <= 0
			}})
		}
	})
	n := judge(t, pairs, false)
	if n == 0 || n > len(pairs)*9/10 {
		t.Errorf("%d of %d damaged proofs are accepted: the damage tests nothing", n, len(pairs))
	}
}

// field returns the number, or text, of a line of a certificate.
func field(text, key string) value {
	for line := range strings.SplitSeq(text, "\n") {
		if found, ok := strings.CutPrefix(line, key+" "); ok {
			return value(found)
		}
	}
	return ""
}

type value string

func (v value) Cmp(n *big.Int) int {
	b, ok := new(big.Int).SetString(string(v), 10)
	if !ok {
		return 2 // not true
	}
	return b.Cmp(n)
}

// damage changes a certificate as somebody might who wants to have it accepted.
func damage(r *rand.Rand, text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for range 1 + r.IntN(2) {
		k := r.IntN(len(lines))
		words := strings.Split(lines[k], " ")
		w := r.IntN(len(words))
		switch r.IntN(12) {
		case 0:
			words[w] = "-" + words[w]
		case 1:
			words[w] = []string{"NaN", "Infinity", "1e9", "0x10", "1_0", "+1", "٣", "", "1.0", "00"}[r.IntN(10)]
		case 2:
			words[w] = strings.Repeat("9", []int{3, 20, 60, 61, 5000}[r.IntN(5)])
		case 3:
			words = append(words[:w], words[w+1:]...)
		case 4:
			words = append(words, words[w])
		case 5: // a line twice, or a key
			lines = append(lines[:k+1], lines[k:]...)
		case 6:
			lines = append(lines[:k], lines[k+1:]...)
		case 7: // an empty tree, or what is left of it
			for i, line := range lines {
				if i > 7 && strings.HasPrefix(line, "0") {
					lines = append(lines[:i], "end")
					break
				}
			}
		case 8:
			lines = append(lines, "end", "0 0")
		case 9: // another claim
			lines[2] = []string{"claim optimum", "claim bound", "claim optimum bound"}[r.IntN(3)]
		default:
			if v, ok := new(big.Int).SetString(words[w], 10); ok {
				words[w] = v.Add(v, big.NewInt(int64(r.IntN(5)-2))).String()
			}
		}
		if k >= len(lines) {
			continue
		}
		if !strings.HasPrefix(strings.Join(words, " "), lines[k]) || r.IntN(2) == 0 {
			lines[k] = strings.Join(words, " ")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// damagePrices restates the prices of all GPUs as prices of each job, and then changes one
// number of them, or how many there are.
func damagePrices(r *rand.Rand, p *proof.Problem, text string) string {
	lines := strings.Split(text, "\n")
	first := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "prices ") }) + 1
	last := first
	for ; strings.HasPrefix(lines[last], "1 "); last++ {
		words := strings.Split(lines[last], " ")
		line := fmt.Sprint(len(p.Jobs))
		for k := 1; k < len(words); k++ {
			if k%2 == 1 { // a time
				line += " " + words[k]
				continue
			}
			price, _ := strconv.ParseInt(words[k], 10, 64)
			for _, j := range p.Jobs {
				line += fmt.Sprintf(" %d", j.Gang*price)
			}
		}
		lines[last] = line
	}
	if last == first {
		return text
	}
	words := strings.Split(lines[first+r.IntN(last-first)], " ")
	at := slices.Index(lines, strings.Join(words, " "))
	w := r.IntN(len(words))
	switch r.IntN(6) {
	case 0:
		words[w] = "-" + words[w]
	case 1:
		words[w] = []string{"NaN", "Infinity", "1e9", "", "1.0", "00", strings.Repeat("9", 60), strings.Repeat("9", 61)}[r.IntN(8)]
	case 2:
		words = slices.Delete(words, w, w+1)
	case 3:
		words = slices.Insert(words, w, words[w])
	case 4:
		words[0] = fmt.Sprint(r.IntN(len(p.Jobs) + 2))
	default:
		v, _ := strconv.ParseInt(words[w], 10, 64)
		words[w] = fmt.Sprint(max(0, v*int64(r.IntN(3))+int64(r.IntN(3)-1)))
	}
	lines[at] = strings.Join(words, " ")
	return strings.Join(lines, "\n")
}

// The optimum of larger instances is that of package exhaustive.
func TestAgreesWithSearch(t *testing.T) {
	var pairs []pair
	byJob := 0 // vectors of such prices
	schedtest.EachSeed(t, tier.Draws(6, 20), func(t *testing.T, r *rand.Rand) {
		in := crowd(r, 8+r.IntN(4), 3_600_000_000)
		obj := []sched.Objective{sched.TotalJCT, sched.Makespan, sched.WeightedCompletion}[r.IntN(3)]
		p, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		res, err := exhaustive.Solve(context.Background(), in, obj, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		first := p.List(r.Perm(len(p.Jobs)))
		value, err := p.Evaluate(first)
		if err != nil {
			t.Fatal(err)
		}
		c := prove(t, p, proof.Claim{Value: value, Starts: first})
		if got := p.Value(c.Claim.Value); got.Cmp(res.Cost) != 0 {
			t.Fatalf("%v: the proof says %v, the search %v", obj, got, res.Cost)
		}
		starts, err := p.Starts(res.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if cost, err := p.Evaluate(starts); err != nil || cost.Cmp(c.Claim.Value) != 0 {
			t.Fatalf("the schedule found costs %v, %v", cost, err)
		}
		pairs = append(pairs, pair{"crowd", p.Text(), c.Text, func() bool { return true }})
		_, rest, _ := strings.Cut(string(c.Text), fmt.Sprintf("\nprices %d\n", c.Prices))
		for _, line := range strings.SplitN(rest, "\n", c.Prices+1)[:c.Prices] {
			if strings.HasPrefix(line, fmt.Sprintf("%d ", len(p.Jobs))) {
				byJob++
			}
		}
	})
	if byJob == 0 {
		t.Error("no proof has prices by job")
	}
	judge(t, pairs, true)
}

// crowd returns jobs of 1 to 15 GPUs and 1 to 20 hours on 32 GPUs, released within half of
// the time that all GPUs take for all work.
func crowd(r *rand.Rand, n int, hour float64) *sched.Instance {
	var jobs []sched.Job
	work := 0.0
	for range n {
		g, d := 1+r.IntN(15), sched.Time((1+19*r.Float64())*hour)
		work += float64(g) * float64(d)
		jobs = append(jobs, schedtest.Job(0, g, d))
	}
	for i := range jobs {
		jobs[i].Release = sched.Time(r.Float64() * work / 32 / 2)
		jobs[i].Weight = float64(1 + r.IntN(3))
	}
	return schedtest.Plain(schedtest.Servers(32), jobs...)
}

// Where placements matter, the pool with least durations bounds what is placed.
func TestPlacedGangs(t *testing.T) {
	met := 0
	draws := tier.Draws(30, 300)
	schedtest.EachSeed(t, draws, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 2 + r.IntN(3), Servers: 2, GPUs: 3, Stages: 2, Traffic: true, Weights: true})
		p, err := proof.New(in, sched.WeightedCompletion, continuous)
		if err != nil {
			t.Fatal(err)
		}
		s, optimum := schedtest.BruteForce(in, sched.WeightedCompletion)
		starts, err := p.Starts(s)
		if err != nil {
			t.Fatal(err)
		}
		value, err := p.Evaluate(starts)
		if err != nil {
			t.Fatal(err)
		}
		if p.Value(value).Cmp(optimum) > 0 {
			t.Fatalf("the placed schedule costs %v, and %v on the pool", optimum, p.Value(value))
		}
		c := prove(t, p, proof.Claim{Value: value, Starts: starts})
		switch p.Value(c.Claim.Value).Cmp(optimum) {
		case 0:
			met++
		case 1:
			t.Fatalf("%v is proven, and %v reached", p.Value(c.Claim.Value), optimum)
		}
	})
	if met == 0 || met == draws {
		t.Errorf("the pool meets the optimum in %d of %d draws: this tests one side only", met, draws)
	}
}

func TestLimits(t *testing.T) {
	p, err := proof.New(crowd(schedtest.Rand(1), 10, 3_600_000_000), sched.TotalCompletion, continuous)
	if err != nil {
		t.Fatal(err)
	}
	starts := p.List([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	value, err := p.Evaluate(starts)
	if err != nil {
		t.Fatal(err)
	}
	claim := proof.Claim{Value: value, Starts: starts}
	if _, err := tree.Prove(context.Background(), p, claim, tree.Limits{Nodes: 5}); !errors.Is(err, proof.ErrLimit) {
		t.Errorf("five nodes: %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tree.Prove(stopped, p, claim, tree.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	claim.Value = plus(value, 1)
	if _, err := tree.Prove(context.Background(), p, claim, tree.Limits{}); err == nil {
		t.Error("a schedule is taken for another value than it costs")
	}
}

// The checker is to be printed in an appendix.
func TestCheckerIsShort(t *testing.T) {
	if n := strings.Count(string(tree.Checkers()[tree.CheckerName]), "\n"); n > 200 {
		t.Errorf("check_tree.py has %d lines", n)
	}
}
