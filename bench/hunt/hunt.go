// Package hunt searches for the instance on which an online policy is worst: the
// one with the largest proven ratio of the policy's cost to the optimum's.
//
// Several islands ([Islands]) each run simulated annealing with random restarts,
// over the numbers that an instance of a [Space] is made of: releases, gangs,
// running times, parameters to exchange, loads and pauses, factors of
// interference, bandwidths. One move sets a release to a time at which the policy
// has just started or finished something, which is what adversaries do.
//
// An evaluation replays the policy, has its schedule verified, and finds the
// optimum exactly: by a search of its own for gangs that run equally fast
// everywhere, and otherwise by the exact method of the model. Where the optimum is
// not proven within a limit of nodes the instance is passed over, so that every
// ratio is proven. The worst instance is then shrunk, to the fewest jobs and the
// smallest numbers that keep its ratio, and its optimum is proven once more, by the
// general method.
//
// What is found is a function of the seed and the number of evaluations. It
// depends neither on the number of workers nor on interruptions: a [State] goes on
// where it was left.
package hunt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"yardstick/bench"
	"yardstick/bounds"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Islands is how many independent searches a hunt consists of.
const Islands = 8

// slice is how many evaluations a worker does before it looks for another island.
const slice int64 = 32

// Options say what to hunt, and for how long.
type Options struct {
	Name   string // of the policy with its parameters
	Policy Policy
	// Against is another policy that takes the place of the optimum, called Rival: the hunt is
	// for the instance on which Policy costs the most times what Against does. Nil hunts
	// against the optimum.
	Against Policy
	Rival   string
	// Conjecture is hunted in place of a policy, if it is not nil: for the instance on which it
	// fails by the most.
	Conjecture *Conjecture
	Space      Space
	Objective  sched.Objective // minimised
	Seed       uint64
	// Evaluations is how many instances are looked at, the shrinking not counted;
	// 0: until the context ends.
	Evaluations int64
	Workers     int // islands at a time; at least 1
	// Keep is the part of the ratio that shrinking must keep, from 0 to 1; nil
	// means all of it.
	Keep *big.Rat
	// Resume is where an earlier hunt with the same options was left; nil begins.
	Resume *State
	// Save is called with where the hunt is whenever every island has done some more
	// thousand evaluations, and at the end; nil saves nothing.
	Save func(*State) error
	// Watch is called now and then with what there is so far, from any goroutine
	// but one at a time.
	Watch func(Progress)
}

// name says what is hunted.
func (o *Options) name() string {
	if o.Conjecture != nil {
		return o.Conjecture.String()
	}
	if o.Against == nil {
		return o.Name
	}
	return o.Name + " against " + o.Rival
}

// Progress is where a hunt is.
type Progress struct {
	Evaluations int64
	Best        *big.Rat // ratio, or 1 and the excess of a conjecture; nil if there is none yet
}

// Found is the worst instance that was found.
type Found struct {
	Instance  *sched.Instance
	Objective sched.Objective
	Policy    *verify.Verified // the policy's schedule
	Optimal   *verify.Verified // a schedule of least cost
	Cost      *big.Rat         // of the policy
	Optimum   *big.Rat
	Method    string      // what proved the optimum
	Class     sched.Class // that the optimum is of
	Before    *big.Rat    // ratio before shrinking
	// Compared says that Optimal is a schedule that the policy's is compared with, and
	// Optimum its cost, by Method: nothing is proven of it, and the ratio to the optimum may
	// be larger.
	Compared bool
	// Certificate says that no schedule of the class costs less, and was checked in
	// exact arithmetic; nil if that would take too long. The optimum is proven all
	// the same.
	Certificate []byte
}

// Ratio returns the ratio of the policy's cost to the optimum.
func (f *Found) Ratio() *big.Rat { return new(big.Rat).Quo(f.Cost, f.Optimum) }

// Result is what a hunt came to.
type Result struct {
	Found *Found // nil if no instance could be evaluated, and of conjectures
	// Case is where a conjecture fails by the most, or is nearest to it; nil if no instance could
	// be evaluated, and of policies.
	Case        *Case
	Evaluations int64
	// Failure is the first error of the policy on an instance that was therefore
	// passed over; nil if there was none.
	Failure error
}

// errState means that a state is damaged.
var errState = errors.New("hunt: the state to go on from is damaged")

// ErrOther means that a state is that of a hunt with other options.
var ErrOther = errors.New("hunt: the state to go on from belongs to another hunt")

// Run hunts until all evaluations are done or the context ends. In either case it
// shrinks and proves the best instance found so far.
//
// It stops at once if the policy fails on the first few instances of every island.
//
// Errors: ErrOther; those of Space.Validate; a program that does not start; a schedule of the policy that breaks
// a rule or that costs less than the optimum; a policy that does not do the same twice; a class without exact method.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Space.Validate(); err != nil {
		return nil, err
	}
	if o.Objective.Maximised() {
		return nil, fmt.Errorf("hunt: %v is maximised: ratios here are of costs", o.Objective)
	}
	o.Space = o.Space.filled()
	h, err := newHunt(ctx, &o)
	if err != nil {
		return nil, err
	}
	if err := h.run(ctx, trial); err != nil {
		return nil, err
	}
	for more := !h.fails(); more; {
		if more, err = h.round(ctx); err != nil {
			return nil, err
		}
		if err := h.save(); err != nil {
			return nil, err
		}
	}
	r := &Result{}
	for _, l := range h.islands {
		r.Evaluations += l.done
		if r.Failure == nil {
			r.Failure = l.evaluator.failure
		}
	}
	best := h.best()
	if best == nil {
		return r, nil
	}
	if h.Conjecture != nil {
		r.Case, err = h.settle(context.WithoutCancel(ctx), best)
		return r, err
	}
	r.Found, err = h.finish(context.WithoutCancel(ctx), best)
	return r, err
}

type hunt struct {
	*Options
	breed   *breed
	islands []*island
}

func newHunt(ctx context.Context, o *Options) (*hunt, error) {
	b := o.Space.breed()
	h := &hunt{Options: o, breed: b}
	for i := range int64(Islands) {
		l := newIsland(&evaluator{breed: b, objective: o.Objective, policy: o.Policy, against: o.Against, rival: o.Rival, conjecture: o.Conjecture}, o.Seed, uint64(i))
		l.quota = -1
		if o.Evaluations > 0 {
			l.quota = o.Evaluations*(i+1)/Islands - o.Evaluations*i/Islands
		}
		h.islands = append(h.islands, l)
	}
	if o.Resume == nil {
		return h, nil
	}
	s := o.Resume
	if s.Policy != o.name() || s.Space != o.Space || s.Objective != o.Objective.String() || s.Seed != o.Seed {
		return nil, ErrOther
	}
	var list []saved
	if err := strictjson.Unmarshal(s.Islands, &list); err != nil {
		return nil, fmt.Errorf("%w: islands: %w", errState, err)
	}
	if len(list) != len(h.islands) {
		return nil, errState
	}
	for i, l := range h.islands {
		if err := l.restore(context.WithoutCancel(ctx), &list[i]); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// trial is how many instances each island looks at before the hunt asks whether the policy
// fails on all. On these the policy is asked twice, and has to do the same.
const trial = 4

// fails reports whether the policy has failed on every instance so far.
func (h *hunt) fails() bool {
	return !slices.ContainsFunc(h.islands, func(l *island) bool { return l.done == 0 || l.evaluator.failed < l.done })
}

// perRound is how many evaluations every island does between two savings.
const perRound = 2000

// round has every island do some evaluations, and reports whether there is more
// to do.
func (h *hunt) round(ctx context.Context) (bool, error) {
	until := h.islands[0].done
	for _, l := range h.islands {
		until = min(until, l.done)
	}
	until += perRound
	if err := h.run(ctx, until); err != nil || ctx.Err() != nil {
		return false, err
	}
	return slices.ContainsFunc(h.islands, func(l *island) bool { return !l.finished() }), nil
}

// run has the workers take the islands in turn, always the one that is most
// behind, until all have done so many evaluations in all.
func (h *hunt) run(ctx context.Context, until int64) error {
	var mu sync.Mutex
	var failed error
	busy := make([]bool, len(h.islands))
	done := make([]int64, len(h.islands))
	best := make([]*candidate, len(h.islands))
	for i, l := range h.islands {
		done[i], best[i] = l.done, l.best
	}
	next := func() int {
		at := -1
		for i, l := range h.islands {
			if !busy[i] && done[i] < until && (l.quota < 0 || done[i] < l.quota) && (at < 0 || done[i] < done[at]) {
				at = i
			}
		}
		return at
	}
	var workers sync.WaitGroup
	for range min(max(h.Workers, 1), len(h.islands)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			mu.Lock()
			defer mu.Unlock()
			for ctx.Err() == nil && failed == nil {
				i := next()
				if i < 0 {
					return
				}
				busy[i] = true
				more := min(slice, until-done[i])
				mu.Unlock()
				err := h.islands[i].run(ctx, more)
				mu.Lock()
				busy[i], done[i], best[i] = false, h.islands[i].done, h.islands[i].best
				if err != nil && failed == nil {
					failed = err
				}
				if h.Watch != nil {
					h.Watch(progress(done, best))
				}
			}
		}()
	}
	workers.Wait()
	return failed
}

func progress(done []int64, best []*candidate) Progress {
	var p Progress
	for _, n := range done {
		p.Evaluations += n
	}
	if c := merge(best); c != nil {
		p.Best = new(big.Rat).Quo(c.cost, c.optimum.cost)
	}
	return p
}

// best returns the worst instance for the policy.
func (h *hunt) best() *candidate {
	var list []*candidate
	for _, l := range h.islands {
		list = append(list, l.best)
	}
	return merge(list)
}

// merge returns the first candidate of the largest ratio, nil if there is none.
func merge(list []*candidate) *candidate {
	var best *candidate
	for _, c := range list {
		if c != nil && (best == nil || c.better(best)) {
			best = c
		}
	}
	return best
}

func (h *hunt) save() error {
	if h.Save == nil {
		return nil
	}
	s, err := h.state()
	if err != nil {
		return err
	}
	return h.Save(s)
}

func (h *hunt) state() (*State, error) {
	list := make([]saved, len(h.islands))
	for i, l := range h.islands {
		var err error
		if list[i], err = l.save(); err != nil {
			return nil, err
		}
	}
	islands, err := json.Marshal(list)
	return &State{Policy: h.name(), Space: h.Space, Objective: h.Objective.String(), Seed: h.Seed, Islands: islands}, err
}

// finish shrinks an instance and proves its optimum by the general method.
func (h *hunt) finish(ctx context.Context, best *candidate) (*Found, error) {
	before := new(big.Rat).Quo(best.cost, best.optimum.cost)
	e := &evaluator{breed: h.breed, objective: h.Objective, policy: h.Policy, against: h.Against, rival: h.Rival}
	c, err := e.shrink(ctx, best, h.Keep)
	if err != nil {
		return nil, err
	}
	if h.Against != nil {
		return &Found{Instance: c.in, Objective: h.Objective, Policy: c.policy, Optimal: c.optimum.schedule, Cost: c.cost, Optimum: c.optimum.cost,
			Method: h.Rival, Class: c.optimum.class, Before: before, Compared: true}, nil
	}
	f, err := Prove(ctx, c.in, h.Objective, h.Policy)
	if err != nil {
		return nil, err
	}
	if f.Cost.Cmp(c.cost) != 0 {
		return nil, fmt.Errorf("hunt: on one instance the policy's schedule costs %v once and %v another time: its decisions must depend on what it is told alone, or there is nothing to hunt", c.cost, f.Cost)
	}
	if f.Optimum.Cmp(c.optimum.cost) != 0 {
		return nil, fmt.Errorf("hunt: %s proves %v, where %s had found %v", f.Method, f.Optimum, c.optimum.method, c.optimum.cost)
	}
	f.Before = before
	return f, nil
}

// Prove replays an instance under a policy and proves the optimum by the general
// exact method of the model.
//
// Errors: the policy's; a schedule that breaks a rule; an optimum that is not
// proven within a limit of nodes, or refuted by its certificate.
func Prove(ctx context.Context, in *sched.Instance, obj sched.Objective, p Policy) (*Found, error) {
	s, err := p(ctx, in)
	if err != nil {
		return nil, err
	}
	v, err := verify.Check(in, s)
	if err != nil {
		return nil, fmt.Errorf("hunt: the policy's schedule: %w", err)
	}
	best, err := prove(ctx, in, obj, v.Class())
	if err != nil {
		return nil, err
	}
	f := &Found{Instance: in, Objective: obj, Policy: v, Optimal: best.schedule, Cost: v.Cost(obj), Optimum: best.cost, Method: best.method, Class: best.class}
	if f.Cost == nil || f.Cost.Cmp(f.Optimum) < 0 {
		return nil, fmt.Errorf("hunt: the policy's schedule costs %v, the optimum %v", f.Cost, f.Optimum)
	}
	f.Before = f.Ratio()
	bound := bounds.Bound{Name: f.Method, Class: f.Class, Objective: obj, Value: f.Optimum}
	if err := bench.CertifyBound(in, &bound); err != nil {
		return nil, fmt.Errorf("hunt: %w", err)
	}
	f.Certificate = bound.Certificate
	return f, nil
}
