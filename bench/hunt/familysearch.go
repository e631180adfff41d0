package hunt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// FamilyOptions say whose family to search for, and for how long.
type FamilyOptions struct {
	Ref       suite.MethodRef // of the policy
	Policy    Policy
	Space     Space // model, GPUs, servers; of at most so many jobs are the instances to infer from
	Objective sched.Objective
	Seed      uint64
	// Evaluations is how many families are looked at, in all.
	Evaluations int64
	// Hunted is how many instances a hunt looks at before, of which the worst is the first
	// family: its equal jobs are blocks. 0 begins with families at random.
	Hunted int64
	// Start are families to begin with, besides; nil for none. They are of the same policy,
	// objective, model and cluster.
	Start   []*Family
	Workers int
	// N is for how many jobs the family is to be bad, such as 1000. The search looks at
	// smaller ones.
	N    int
	Keep *big.Rat // the part of the ratio at N that shrinking must keep
	// Watch is called now and then with how many were looked at and the best ratio at N.
	Watch func(Progress)
}

// Sizes at which the search compares families: all of them at the first, and those that
// are good at N.
const searchedJobs = 24

// FamilyFound is what a search for families came to.
type FamilyFound struct {
	Family      *Family
	At          *Found // at N
	Before      *big.Rat
	Evaluations int64
}

// FindFamily searches over families for one on which a policy is bad for large n: simulated
// annealing over formulas, blocks and the order of the other schedule, on several islands,
// each with its own stream of the seed. The worst at n = N is then shrunk, to the fewest
// blocks and the shortest formulas that keep its ratio. What is found depends on the seed
// and the number of evaluations alone, unless the context ends before.
//
// Errors: those of Space.Validate; a schedule that breaks a rule; a class with no policies to
// compare with; nothing was found.
func FindFamily(ctx context.Context, o FamilyOptions) (*FamilyFound, error) {
	if err := o.Space.Validate(); err != nil {
		return nil, err
	}
	if o.Objective.Maximised() {
		return nil, fmt.Errorf("hunt: %v is maximised: ratios here are of costs", o.Objective)
	}
	o.Space = o.Space.filled()
	islands := make([]*familyIsland, Islands)
	var mu sync.Mutex
	var group sync.WaitGroup
	var failed error
	next, progress := 0, Progress{}
	for range max(o.Workers, 1) {
		group.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= Islands || ctx.Err() != nil {
					return
				}
				l := &familyIsland{FamilyOptions: &o, random: rand.New(rand.NewPCG(o.Seed, uint64(i))), at: map[string]float64{}}
				l.tell = func(more int64, best *big.Rat) {
					mu.Lock()
					defer mu.Unlock()
					progress.Evaluations += more
					if best != nil && (progress.Best == nil || best.Cmp(progress.Best) > 0) {
						progress.Best = best
					}
					if o.Watch != nil {
						o.Watch(progress)
					}
				}
				err := l.run(ctx, o.Evaluations*int64(i+1)/Islands-o.Evaluations*int64(i)/Islands, i)
				mu.Lock()
				islands[i], failed = l, cmp.Or(failed, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if failed != nil {
		return nil, failed
	}
	r, best := &FamilyFound{}, (*familyIsland)(nil)
	for _, l := range islands {
		if l == nil {
			continue
		}
		r.Evaluations += l.done
		if l.best != nil && (best == nil || l.bestRatio.Cmp(best.bestRatio) > 0) {
			best = l
		}
	}
	if best == nil {
		return nil, errors.New("hunt: no family was found that makes instances which the policy finishes")
	}
	return r, best.finish(context.WithoutCancel(ctx), r)
}

// familyIsland is one of several searches.
type familyIsland struct {
	*FamilyOptions
	random *rand.Rand
	done   int64
	tell   func(int64, *big.Rat)

	refs      []suite.MethodRef // policies that make other schedules, where there are no gangs
	best      *Family
	bestRatio *big.Rat           // at N
	at        map[string]float64 // the scores of the last families looked at, by their text
}

// Of the annealing: how many steps a descent has, how much worse a neighbour may be, and
// what a family pays for each number, variable and operation.
const (
	familySteps = 400
	familyHeat  = 0.2
	perSize     = 0.002
)

func (l *familyIsland) run(ctx context.Context, quota int64, index int) error {
	whole := context.WithoutCancel(ctx)
	if !l.Space.Model.Gangs() {
		if err := l.others(); err != nil {
			return err
		}
	}
	starts, err := l.inferred(whole, index)
	if err != nil {
		return err
	}
	starts = append(slices.Clone(l.Start), starts...)
	var current *Family
	score, step := 0.0, 0
	for ; l.done < quota && ctx.Err() == nil; l.done++ {
		var f *Family
		switch {
		case len(starts) > 0:
			f, starts = starts[0], starts[1:]
		case current != nil:
			f = l.mutate(current)
		case l.best != nil && l.random.IntN(2) == 0:
			f = l.mutate(l.mutate(l.best))
		default:
			f = l.any()
		}
		s, good, err := l.score(whole, f)
		if err != nil {
			return err
		}
		cold := 1 - float64(step)/familySteps
		if good != nil && (current == nil || s >= score-familyHeat*cold*cold*l.random.ExpFloat64()) {
			current, score = good, s
			if err := l.confirm(whole, good); err != nil {
				return err
			}
		}
		if step++; current != nil && step >= familySteps {
			current, step = nil, 0
		}
		if l.done%32 == 31 {
			l.tell(32, l.bestRatio)
		}
	}
	return nil
}

// others finds the policies that may make the other schedule.
func (l *familyIsland) others() error {
	example, err := Space{Model: l.Space.Model, Jobs: 2, GPUs: l.Space.GPUs, Servers: l.Space.Servers}.Example()
	if err != nil {
		return err
	}
	for _, ref := range catalogue.OnlineRefs() {
		m, err := catalogue.Resolve(ref)
		if err != nil {
			return err
		}
		if ref.Name != l.Ref.Name && bench.Suits(m, example) == nil {
			l.refs = append(l.refs, ref)
		}
	}
	if len(l.refs) == 0 {
		return fmt.Errorf("hunt: no other policy makes schedules of the %s model", l.Space.Model)
	}
	return nil
}

// inferred makes a family of the worst instance that a short hunt finds: equal jobs are a
// block, and the largest block has as many jobs as there may be. Its times are also scaled,
// as more jobs often need a longer one before them.
func (l *familyIsland) inferred(ctx context.Context, index int) ([]*Family, error) {
	if l.Hunted == 0 {
		return nil, nil
	}
	h := newIsland(&evaluator{breed: l.Space.breed(), objective: l.Objective, policy: l.Policy}, l.Seed, uint64(index))
	h.quota = (l.Hunted + Islands - 1) / Islands
	if err := h.run(ctx, h.quota); err != nil || h.best == nil {
		return nil, err
	}
	c, err := h.evaluator.shrink(ctx, h.best, big.NewRat(9, 10))
	if err != nil {
		return nil, err
	}
	f := l.generalise(c.genes)
	n := variable("n")
	return []*Family{f, l.scaled(f, n, 1), l.scaled(f, join('*', n, n), 1), l.scaled(f, n, 4), l.scaled(f, join('*', n, n), 4)}, nil
}

func (l *familyIsland) empty() *Family {
	f := &Family{Policy: l.Ref, Objective: l.Objective, Model: l.Space.Model, GPUs: l.Space.GPUs, Servers: l.Space.Servers}
	if l.refs != nil {
		f.Offline = &l.refs[0]
	}
	return f
}

// generalise makes blocks of equal jobs.
func (l *familyIsland) generalise(g *genes) *Family {
	f, kinds, largest := l.empty(), l.Space.breed().job, -1
	sizes := []int{}
	for i := range g.Jobs {
		if i > 0 && slices.Equal(g.Jobs[i], g.Jobs[i-1]) {
			sizes[len(sizes)-1]++
			continue
		}
		b := Block{count: whole(1)}
		for k, v := range g.Jobs[i] {
			switch {
			case v == kinds[k].low:
			case kinds[k].size() && int(v) == l.Space.GPUs:
				b[kinds[k].name] = variable("G")
			default:
				b[kinds[k].name] = whole(v)
			}
		}
		f.Blocks, sizes = append(f.Blocks, b), append(sizes, 1)
	}
	for k, n := range sizes {
		f.Blocks[k][count] = whole(int64(n))
		if largest < 0 || n > sizes[largest] {
			largest = k
		}
	}
	delete(f.Blocks[largest], count)
	for _, v := range g.Shared {
		f.Shared = append(f.Shared, whole(v))
	}
	l.orders(f)
	return f
}

// scaled multiplies all times, but those of no more than so many units.
func (l *familyIsland) scaled(f *Family, by *Formula, least int64) *Family {
	f = f.clone()
	for _, b := range f.Blocks {
		for _, k := range l.Space.breed().job {
			if old := b[k.name]; k.time && old != nil && (old.op != 0 || old.number > least) {
				b[k.name] = join('*', old, by)
			}
		}
	}
	return f
}

// orders gives the family an order where it has none of all its blocks.
func (l *familyIsland) orders(f *Family) {
	if f.Offline != nil || len(f.Order) == len(f.Blocks) {
		return
	}
	f.Order = nil
	for k := range f.Blocks {
		f.Order = append(f.Order, k+1)
	}
}

// any returns a family at random.
func (l *familyIsland) any() *Family {
	f := l.empty()
	kinds := l.Space.breed()
	blocks := 1 + l.random.IntN(3)
	bulk := l.random.IntN(blocks)
	for k := range blocks {
		b := Block{}
		for i := range kinds.job {
			if l.random.IntN(2) == 0 && kinds.job[i].high > kinds.job[i].low {
				b[kinds.job[i].name] = l.formula(&kinds.job[i])
			}
		}
		if k != bulk {
			b[count] = whole(1 + int64(l.random.IntN(2)))
		}
		f.Blocks = append(f.Blocks, b)
	}
	for i := range kinds.shared {
		f.Shared = append(f.Shared, whole(kinds.shared[i].draw(l.random)))
	}
	l.orders(f)
	return f
}

// formula draws a formula for a number.
func (l *familyIsland) formula(k *gene) *Formula {
	r := l.random
	if !k.time && !k.size() && k.name != count {
		return whole(k.draw(r))
	}
	switch r.IntN(12) {
	case 0, 1:
		return variable("G")
	case 2, 3:
		return variable("n")
	case 4:
		return variable("i")
	case 5:
		return join('*', variable("n"), l.small())
	case 6:
		return join('*', variable("i"), l.small())
	case 7:
		return join("+-*/"[r.IntN(4)], l.formula(k), l.formula(k))
	case 8:
		return join('^', whole(2), []*Formula{variable("i"), {op: 'l', left: variable("n")}}[r.IntN(2)])
	}
	return l.small()
}

// small draws a number, small ones more often.
func (l *familyIsland) small() *Formula {
	v := int64(0)
	for l.random.IntN(3) > 0 {
		v = v*2 + int64(l.random.IntN(2))
	}
	return whole(min(v, 100_000))
}

func (f *Family) clone() *Family {
	g := *f
	g.Blocks = make([]Block, len(f.Blocks))
	for k, b := range f.Blocks {
		g.Blocks[k] = maps.Clone(b)
	}
	g.Shared, g.Order = slices.Clone(f.Shared), slices.Clone(f.Order)
	return &g
}

// mutate returns a neighbour.
func (l *familyIsland) mutate(f *Family) *Family {
	f = f.clone()
	for changes := 1 + l.random.IntN(2); changes > 0; changes-- {
		l.change(f)
	}
	l.orders(f)
	return f
}

func (l *familyIsland) change(f *Family) {
	r, kinds := l.random, l.Space.breed()
	k := r.IntN(len(f.Blocks))
	b := f.Blocks[k]
	kind := &kinds.job[r.IntN(len(kinds.job))]
	switch r.IntN(15) {
	case 0: // one more block, like this one
		if len(f.Blocks) < 4 {
			more := maps.Clone(b)
			more[count] = whole(1)
			f.Blocks, f.Order = slices.Insert(f.Blocks, k, more), nil
		}
	case 1:
		if len(f.Blocks) > 1 && b[count] != nil {
			f.Blocks, f.Order = slices.Delete(f.Blocks, k, k+1), nil
		}
	case 2:
		x := r.IntN(len(f.Blocks))
		f.Blocks[k], f.Blocks[x] = f.Blocks[x], b
	case 3:
		if len(f.Order) > 1 {
			x, y := r.IntN(len(f.Order)), r.IntN(len(f.Order))
			f.Order[x], f.Order[y] = f.Order[y], f.Order[x]
		}
	case 4:
		if b[count] != nil {
			b[count] = l.formula(&gene{name: count})
		}
	case 5: // of another block, and perhaps a little later
		from := f.Blocks[r.IntN(len(f.Blocks))][kinds.job[r.IntN(len(kinds.job))].name]
		if from != nil && kind.time {
			b[kind.name] = from
			if r.IntN(2) == 0 {
				b[kind.name] = join("+-"[r.IntN(2)], from, l.small())
			}
		}
	case 6, 7, 8:
		if old := b[kind.name]; old != nil && kind.time {
			b[kind.name] = join("+-**/"[r.IntN(5)], old, []*Formula{whole(1), whole(2), variable("n"), variable("i"), l.small()}[r.IntN(5)])
		}
	case 9:
		if len(f.Shared) > 0 {
			x := r.IntN(len(f.Shared))
			f.Shared[x] = whole(kinds.shared[x].draw(r))
		}
	case 10:
		delete(b, kind.name)
	case 11:
		*f = *l.scaled(f, []*Formula{whole(2), variable("n"), variable("G")}[r.IntN(3)], int64(r.IntN(6)))
	default:
		if kind.high > kind.low {
			b[kind.name] = l.formula(kind)
		}
	}
}

// variants are the family with each of the other schedules that are tried.
func (l *familyIsland) variants(f *Family) (list []*Family) {
	if f.Offline != nil {
		for i := range l.refs {
			g := *f
			g.Offline = &l.refs[i]
			list = append(list, &g)
		}
		return list
	}
	if len(f.Blocks) > 3 {
		return []*Family{f}
	}
	for _, order := range permutations(len(f.Blocks)) {
		g := *f
		g.Order = order
		list = append(list, &g)
	}
	return list
}

// permutations lists those of 1 to n.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n))
		}
	}
	return all
}

// score is how bad the policy is on a small instance of the family, with the best of the
// other schedules; the family is nil if there is no such instance, or the policy does not
// finish it.
func (l *familyIsland) score(ctx context.Context, f *Family) (float64, *Family, error) {
	for _, b := range f.Blocks {
		for _, formula := range b {
			if formula.size() > 12 {
				return 0, nil, nil
			}
		}
	}
	best, at, err := l.worst(ctx, f, searchedJobs)
	if at == nil || err != nil {
		return 0, nil, err
	}
	r, _ := at.Ratio().Float64()
	return math.Log(r) - perSize*float64(best.size()), best, nil
}

func (f *Family) size() (n int) {
	for _, b := range f.Blocks {
		n++
		for _, formula := range b {
			n += formula.size()
		}
	}
	return n
}

// worst evaluates a family with the best of the other schedules.
func (l *familyIsland) worst(ctx context.Context, f *Family, n int) (*Family, *Found, error) {
	in, blocks, err := f.Instance(n, 0)
	if err != nil {
		return nil, nil, nil // formulas that make none: there are many
	}
	mine, err := checked(ctx, in, l.Policy)
	if bad(err) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, nil
	}
	var family *Family
	var found *Found
	for _, g := range l.variants(f) {
		other := inOrder(in, blocks, g.Order)
		if g.Offline != nil {
			if other, err = named(*g.Offline, g.Objective); err != nil {
				return nil, nil, err
			}
		}
		best, err := checked(ctx, in, other)
		if err != nil {
			if bad(err) {
				return nil, nil, err
			}
			continue
		}
		r, err := compared(in, f.Objective, mine, best, "")
		if err == nil && (found == nil || r.Optimum.Cmp(found.Optimum) < 0) {
			family, found = g, r
		}
	}
	return family, found, nil
}

// confirm looks at a family at N if it is not one looked at before, and keeps it if it is
// the worst there.
func (l *familyIsland) confirm(ctx context.Context, f *Family) error {
	text := fmt.Sprint(f.Blocks, f.Shared)
	if _, seen := l.at[text]; seen {
		return nil
	}
	l.at[text] = 0
	_, small, err := l.worst(ctx, f, 2*searchedJobs)
	if err != nil || small == nil {
		return err
	}
	// At N only what is not much less bad than the best there was at twice the size.
	value, _ := small.Ratio().Float64()
	if least := l.at[""]; l.best != nil && value < 0.9*least {
		return nil
	}
	family, at, err := l.worst(ctx, f, l.N)
	if err != nil || at == nil {
		return err
	}
	if r := at.Ratio(); l.bestRatio == nil || r.Cmp(l.bestRatio) > 0 {
		l.best, l.bestRatio, l.at[""] = family, r, value
	}
	return nil
}

// bad reports an error that ends a search: a schedule that breaks a rule, or a panic.
func bad(err error) bool {
	_, broken := errors.AsType[*verify.Error](err)
	return broken || errors.Is(err, bench.ErrPanicked)
}
