package hunt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"

	"yardstick/bench"
)

// island is one of several searches that know nothing of each other, so that what
// they find together does not depend on how many run at a time.
type island struct {
	evaluator *evaluator
	source    *rand.PCG
	random    *rand.Rand

	done, quota int64      // evaluations; a quota below 0 is none
	step        int        // of the present descent
	current     *candidate // nil before its first
	best        *candidate
	found       int64 // evaluations when best was found
}

// steps is the length of a descent, and heat how much worse, relative to the
// ratio at hand, a neighbour may be at its beginning, on average.
const (
	steps = 2000
	heat  = 0.15
)

func newIsland(e *evaluator, seed, index uint64) *island {
	l := &island{evaluator: e, source: rand.NewPCG(seed, index)}
	l.random = rand.New(l.source)
	return l
}

func (l *island) finished() bool { return l.quota >= 0 && l.done >= l.quota }

// run evaluates so many instances, fewer if the quota or the context ends.
func (l *island) run(ctx context.Context, evaluations int64) error {
	whole := context.WithoutCancel(ctx) // an evaluation is done to its end, or resuming would differ
	for range evaluations {
		if l.finished() || ctx.Err() != nil {
			return nil
		}
		if err := l.evaluate(whole); err != nil {
			return err
		}
	}
	return nil
}

// evaluate looks at one instance: simulated annealing, with random restarts
// from anywhere and from near the best.
//
// How much worse the neighbour may be is drawn before it is evaluated, so that
// evaluating may stop as soon as a lower bound on the optimum shows it to be
// worse than that.
func (l *island) evaluate(ctx context.Context) error {
	l.done++
	g, least := l.next()
	c, err := l.evaluator.evaluate(ctx, g, least)
	if err != nil {
		return err
	}
	if l.done == 1 && errors.Is(l.evaluator.failure, bench.ErrNotStarted) {
		return l.evaluator.failure // it will not start on any other either
	}
	if c != nil {
		l.current = c
		if l.best == nil || c.better(l.best) {
			l.best, l.found = c, l.done
		}
	}
	if l.current != nil {
		l.step++
	}
	if l.step >= steps {
		l.step, l.current = 0, nil
	}
	return nil
}

// next returns what to evaluate, and the least ratio that is of interest.
func (l *island) next() (*genes, float64) {
	s := &l.evaluator.breed.species
	switch {
	case l.current != nil:
		cold := 1 - float64(l.step)/steps
		return s.mutate(l.random, l.current.genes, l.current.events), l.current.ratio * (1 - heat*cold*cold*l.random.ExpFloat64())
	case l.best != nil && l.random.IntN(2) == 0:
		g := l.best.genes
		for range 4 {
			g = s.mutate(l.random, g, l.best.events)
		}
		return g, 0
	}
	return s.random(l.random), 0
}

// saved is an island in a state file.
type saved struct {
	Source  []byte `json:"random"`
	Done    int64  `json:"evaluations"`
	Step    int    `json:"step"`
	Current *genes `json:"current,omitempty"`
	Best    *genes `json:"best,omitempty"`
	Found   int64  `json:"found"`
}

func (l *island) save() (saved, error) {
	source, err := l.source.MarshalBinary()
	s := saved{Source: source, Done: l.done, Step: l.step, Found: l.found}
	if l.current != nil {
		s.Current = l.current.genes
	}
	if l.best != nil {
		s.Best = l.best.genes
	}
	return s, err
}

// restore puts an island into a saved state. What is not in it follows from the
// genes.
func (l *island) restore(ctx context.Context, s *saved) error {
	if err := l.source.UnmarshalBinary(s.Source); err != nil {
		return errState
	}
	l.done, l.step, l.found = s.Done, s.Step, s.Found
	for _, one := range []struct {
		genes *genes
		into  **candidate
	}{{s.Current, &l.current}, {s.Best, &l.best}} {
		if one.genes == nil {
			continue
		}
		if !l.evaluator.breed.fits(one.genes) {
			return errState
		}
		c, err := l.evaluator.evaluate(ctx, one.genes, 0)
		if err != nil {
			return err
		}
		if c == nil {
			return cmp.Or(l.evaluator.failure, errState)
		}
		*one.into = c
	}
	return nil
}

// State is a hunt that can be gone on with: what it was asked for, and where its
// islands are.
type State struct {
	// Of the options, those that shape what is found.
	Policy    string          `json:"policy"`
	Space     Space           `json:"space"`
	Objective string          `json:"objective"`
	Seed      uint64          `json:"seed"`
	Islands   json.RawMessage `json:"islands"`
}
