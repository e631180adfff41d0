package hunt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/heuristics/sim"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Family is a generator of instances on which a policy is bad, one for each n: blocks of
// jobs, whose numbers are formulas in n, the GPUs G, and the index i of a job in its block,
// from 0. Formulas are rounded down, and times are in seconds.
//
// A policy's ratio on one of them is at least that of its cost to the cost of a schedule of
// its class that the family makes too: no optimum is proven, and none is needed.
type Family struct {
	Policy    suite.MethodRef `json:"policy"`
	Objective sched.Objective `json:"objective"`
	Model     sched.Model     `json:"model"`
	GPUs      int             `json:"gpus"`
	Servers   int             `json:"servers,omitempty"` // 0 means 1
	// Shared are the numbers that are of no job, as the model has them: factors of
	// interference, bandwidths. Those that are missing are the least there may be.
	Shared []*Formula `json:"shared,omitempty"`
	Blocks []Block    `json:"blocks"`
	// Order is the other schedule: the blocks, from 1, in the order in which their jobs
	// start, each as soon as it is released, its GPUs are free and the one before has
	// started.
	Order []int `json:"order,omitempty"`
	// Offline is the policy that makes the other schedule, where there is no order.
	Offline *suite.MethodRef `json:"offline,omitempty"`
}

// Block is some jobs: a formula for each number that a job of the model has, by its name
// ([Names]), and for count, how many there are. Numbers that are missing are the least
// there may be. One block may have no count: it has what the others leave of n.
type Block map[string]*Formula

const count = "count"

// Limits of the instances that families make.
const (
	maxFamilyJobs = 100_000
	maxFamilyTime = 1_000_000_000 // units
	maxBlocks     = 12
)

// errFamily means that the formulas make no instance.
var errFamily = errors.New("hunt: the family makes no instance")

func (f *Family) space(gpus int) Space {
	s := Space{Model: f.Model, Jobs: 1, GPUs: gpus, Servers: f.Servers, Weighted: f.Objective.Weighted()}
	if hunted[f.Model].breed != nil {
		s.Longest = hunted[f.Model].most
	}
	return s.filled()
}

// About reports whether two families are of the same policy, objective, model and cluster.
func (f *Family) About(g *Family) bool {
	return f.Policy.String() == g.Policy.String() && f.Objective == g.Objective && f.Model == g.Model && f.GPUs == g.GPUs && cmp.Or(f.Servers, 1) == cmp.Or(g.Servers, 1)
}

// Names returns what the numbers of jobs are called in a model.
func Names(m sched.Model) (names []string) {
	for _, k := range (&Family{Model: m}).space(2).breed().job {
		names = append(names, k.name)
	}
	return names
}

// ReadFamily decodes a family.
func ReadFamily(r io.Reader) (*Family, error) {
	var f Family
	if err := strictjson.Read(r, &f); err != nil {
		return nil, fmt.Errorf("hunt: a family: %w", err)
	}
	return &f, f.Validate()
}

// Write encodes the family as indented JSON.
func (f *Family) Write(w io.Writer) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// Validate returns an error if the family is none.
func (f *Family) Validate() error {
	if f.Policy.Name == "" || f.Objective == 0 || f.Objective.Maximised() {
		return errors.New("hunt: a family names a policy, and an objective that is minimised")
	}
	if err := f.space(f.GPUs).Validate(); err != nil {
		return err
	}
	if len(f.Blocks) == 0 || len(f.Blocks) > maxBlocks {
		return fmt.Errorf("hunt: a family of %d blocks: between 1 and %d", len(f.Blocks), maxBlocks)
	}
	names, rest := Names(f.Model), 0
	for i, b := range f.Blocks {
		for _, name := range slices.Sorted(maps.Keys(b)) {
			if name != count && !slices.Contains(names, name) || b[name] == nil {
				return fmt.Errorf("hunt: block %d has %q, and jobs of the %s model have %v", i+1, name, f.Model, names)
			}
		}
		if b[count] == nil {
			rest++
		}
	}
	sorted := slices.Sorted(slices.Values(f.Order))
	for i := range sorted {
		if sorted[i] != i+1 {
			return fmt.Errorf("hunt: the order %v is none of %d blocks", f.Order, len(f.Blocks))
		}
	}
	switch {
	case rest > 1:
		return errors.New("hunt: one block may have no count, and more have none")
	case f.Offline == nil && len(f.Order) != len(f.Blocks) || f.Offline != nil && f.Order != nil:
		return errors.New("hunt: a family has an order of all its blocks, or the policy of the other schedule")
	case f.Order != nil && !f.Model.Gangs():
		return fmt.Errorf("hunt: jobs of the %s model have no gangs to start in order: offline names a policy", f.Model)
	}
	return nil
}

// Instance makes the instance of a family for some n, on its GPUs or, if gpus is not 0, on
// so many. It returns also the block of each job.
//
// Errors: a formula has no value, or one that it may not have.
func (f *Family) Instance(n, gpus int) (*sched.Instance, []int, error) {
	gpus = cmp.Or(gpus, f.GPUs)
	s := f.space(gpus)
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	b := s.breed()
	values := map[string]*big.Rat{"n": big.NewRat(int64(n), 1), "G": big.NewRat(int64(gpus), 1), "i": new(big.Rat)}
	counts, err := f.counts(n, values)
	if err != nil {
		return nil, nil, err
	}
	var g genes
	for k, kind := range b.shared {
		var formula *Formula
		if k < len(f.Shared) {
			formula = f.Shared[k]
		}
		v, err := f.number(formula, &kind, values)
		if err != nil {
			return nil, nil, err
		}
		g.Shared = append(g.Shared, v)
	}
	var of []int
	for k, block := range f.Blocks {
		for i := range counts[k] {
			values["i"] = big.NewRat(int64(i), 1)
			row := make([]int64, len(b.job))
			for x, kind := range b.job {
				if row[x], err = f.number(block[kind.name], &kind, values); err != nil {
					return nil, nil, fmt.Errorf("%w: block %d", err, k+1)
				}
			}
			g.Jobs, of = append(g.Jobs, row), append(of, k)
		}
	}
	if len(g.Jobs) == 0 {
		return nil, nil, fmt.Errorf("%w: of no jobs", errFamily)
	}
	in := b.build(&g)
	in.Name = fmt.Sprintf("family of %s, n = %d", f.Policy.Name, n)
	return in, of, in.Validate()
}

// counts returns how many jobs each block has.
func (f *Family) counts(n int, values map[string]*big.Rat) ([]int, error) {
	counts, rest, sum := make([]int, len(f.Blocks)), -1, 0
	for k, b := range f.Blocks {
		if b[count] == nil {
			rest = k
			continue
		}
		v, err := f.number(b[count], &gene{name: count, high: maxFamilyJobs}, values)
		if err != nil {
			return nil, err
		}
		counts[k] = int(v)
		sum += counts[k]
	}
	if rest >= 0 {
		counts[rest] = n - sum
		sum = n
	}
	if rest >= 0 && counts[rest] < 0 || sum > maxFamilyJobs {
		return nil, fmt.Errorf("%w: of %d jobs at n = %d", errFamily, sum, n)
	}
	return counts, nil
}

// number is the value of a formula, rounded down, within what the number may be.
func (f *Family) number(formula *Formula, k *gene, values map[string]*big.Rat) (int64, error) {
	if formula == nil {
		return k.low, nil
	}
	v, err := formula.Eval(values)
	if err != nil {
		return 0, err
	}
	high := k.high
	if k.time || k.name == "weight" && k.high > k.low {
		high = maxFamilyTime
	}
	floor := new(big.Int).Div(v.Num(), v.Denom())
	if !floor.IsInt64() || floor.Int64() < k.low || floor.Int64() > high {
		return 0, fmt.Errorf("%w: %s is %s, which is between %d and %d", errFamily, k.name, floor, k.low, high)
	}
	return floor.Int64(), nil
}

// Evaluate replays the instance for some n under the policy, makes the other schedule and
// has both verified. In what it returns, Optimum is the cost of that schedule, which the
// optimum may be below.
//
// Errors: those of Instance and of the policy; a schedule that breaks a rule, or is of a
// class that says nothing about the policy's.
func (f *Family) Evaluate(ctx context.Context, n, gpus int, p Policy) (*Found, error) {
	in, blocks, err := f.Instance(n, gpus)
	if err != nil {
		return nil, err
	}
	mine, err := checked(ctx, in, p)
	if err != nil {
		return nil, fmt.Errorf("hunt: the policy: %w", err)
	}
	other := inOrder(in, blocks, f.Order)
	name := fmt.Sprintf("starts in the order of blocks %v", f.Order)
	if f.Offline != nil {
		if other, err = named(*f.Offline, f.Objective); err != nil {
			return nil, err
		}
		name = f.Offline.String()
	}
	best, err := checked(ctx, in, other)
	if err != nil {
		return nil, fmt.Errorf("hunt: the other schedule: %w", err)
	}
	return compared(in, f.Objective, mine, best, name)
}

// checked is what a policy does on an instance, verified.
func checked(ctx context.Context, in *sched.Instance, p Policy) (*verify.Verified, error) {
	s, err := p(ctx, in)
	if err != nil {
		return nil, err
	}
	return verify.Check(in, s)
}

// compared is a statement about a policy's schedule and another one of its class.
func compared(in *sched.Instance, o sched.Objective, mine, best *verify.Verified, by string) (*Found, error) {
	if !best.Class().Reaches(mine.Class()) {
		return nil, fmt.Errorf("hunt: a schedule of class %v says nothing about the best of class %v", best.Class(), mine.Class())
	}
	f := &Found{Instance: in, Objective: o, Policy: mine, Optimal: best, Cost: mine.Cost(o), Optimum: best.Cost(o), Method: by, Class: mine.Class(), Compared: true}
	if f.Cost == nil || f.Optimum == nil || f.Cost.Sign() <= 0 || f.Optimum.Sign() <= 0 {
		return nil, fmt.Errorf("hunt: a schedule has no %v", o)
	}
	f.Before = f.Ratio()
	return f, nil
}

// named is a policy of the catalogue.
func named(ref suite.MethodRef, o sched.Objective) (Policy, error) {
	m, err := catalogue.Resolve(ref)
	if err != nil {
		return nil, err
	}
	if m.Kind() != bench.Online {
		return nil, fmt.Errorf("hunt: %s is not an online policy", ref)
	}
	return func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		if err := bench.Suits(m, in); err != nil {
			return nil, err
		}
		out, err := m.Run(ctx, bench.Problem{Instance: in, Objectives: []sched.Objective{o}})
		if err != nil {
			return nil, err
		}
		return out[0].Schedule, nil
	}, nil
}

// inOrder makes the schedule that starts the jobs of the blocks in order.
func inOrder(in *sched.Instance, blocks, order []int) Policy {
	var list []sched.JobID
	for _, k := range order {
		for j, of := range blocks {
			if of == k-1 {
				list = append(list, sched.JobID(j))
			}
		}
	}
	return func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		p := &ordered{list: list, class: sched.Class{Kind: sched.N, Slotted: in.Slot > 0}}
		r, err := sim.Run(ctx, in, p, sim.Options{Slotted: in.Slot > 0})
		if err != nil {
			return nil, err
		}
		return r.Schedule, nil
	}
}

// ordered starts jobs in an order that is known beforehand.
type ordered struct {
	list  []sched.JobID // that have not started
	class sched.Class
}

func (p *ordered) Name() string       { return "ordered" }
func (p *ordered) Class() sched.Class { return p.class }

// Decide implements [sim.Policy].
func (p *ordered) Decide(v *sim.View) (d sim.Decision, err error) {
	for len(p.list) > 0 {
		if _, err := v.State(p.list[0]); errors.Is(err, sim.ErrHidden) {
			return d, nil
		}
		place, ok, err := v.Place(p.list[0], sim.BestFit)
		if err != nil || !ok {
			return d, err
		}
		d.Start = append(d.Start, sim.Assignment{Job: p.list[0], Place: place})
		p.list = p.list[1:]
	}
	return d, nil
}

// Trend says what ratios do as n grows, by those at some n, twice as large, and twice as
// large again: a description of three numbers, and no theorem.
type Trend struct {
	Grows bool
	// Exponent is that of the power of n like which the ratio grows; Limit is what it
	// tends to if the steps go on becoming smaller as they did.
	Exponent, Limit float64
}

// slow is how much of a step the next one must at most be for ratios to have a limit: steps
// of a ratio that grows like the logarithm are equal.
const slow = 0.9

// Fit describes three ratios, at n, 2n and 4n.
func Fit(a, b, c float64) Trend {
	first, second := b-a, c-b
	if second <= 1e-9*c {
		return Trend{Limit: c}
	}
	if q := second / first; first > 0 && q < slow {
		return Trend{Limit: c + second*q/(1-q)}
	}
	return Trend{Grows: true, Exponent: math.Log2(c / b)}
}

func (t Trend) String() string {
	if t.Grows {
		return fmt.Sprintf("grows like n^%.2f", t.Exponent)
	}
	return fmt.Sprintf("tends to %.4g", t.Limit)
}

// Words describes each block in a line.
func (f *Family) Words() (lines []string) {
	for _, b := range f.Blocks {
		text := "the rest of n jobs"
		if b[count] != nil {
			text = "jobs: " + b[count].String()
		}
		for _, name := range Names(f.Model) {
			if b[name] != nil {
				text += ", " + name + " " + b[name].String()
			}
		}
		lines = append(lines, text)
	}
	return lines
}

// Against says what the other schedule is.
func (f *Family) Against() string {
	if f.Offline != nil {
		return "the schedule of " + f.Offline.String()
	}
	return fmt.Sprintf("the schedule that starts the blocks in the order %v", f.Order)
}
