package hunt

import (
	"math/rand/v2"
	"slices"
)

// gene is a whole number that an instance is made from, and where it may lie.
type gene struct {
	name      string
	low, high int64
	// event: the number is a time from the start, at which something that the
	// policy did may be worth aiming at.
	event bool
	fixed bool // it names something, and shrinking leaves it as it is
	time  bool // dividing all times by a number keeps the instance alike
}

// genes are the numbers that make an instance: some of its own, and some for
// each job. What they mean is the model's business; searching and shrinking only
// move numbers.
type genes struct {
	Shared []int64   `json:"shared,omitempty"`
	Jobs   [][]int64 `json:"jobs"`
}

func (g *genes) clone() *genes {
	out := &genes{Shared: slices.Clone(g.Shared), Jobs: make([][]int64, len(g.Jobs))}
	for i, j := range g.Jobs {
		out.Jobs[i] = slices.Clone(j)
	}
	return out
}

// species says which genes instances have.
type species struct {
	shared, job []gene
	jobs        int // the most
}

// fits reports whether all numbers lie where they may.
func (s *species) fits(g *genes) bool {
	if len(g.Jobs) < 1 || len(g.Jobs) > s.jobs || !within(s.shared, g.Shared) {
		return false
	}
	return !slices.ContainsFunc(g.Jobs, func(j []int64) bool { return !within(s.job, j) })
}

func within(kinds []gene, values []int64) bool {
	if len(kinds) != len(values) {
		return false
	}
	for i, v := range values {
		if v < kinds[i].low || v > kinds[i].high {
			return false
		}
	}
	return true
}

// random draws numbers evenly in their logarithm, so that small ones are as
// likely as large ones.
func (s *species) random(r *rand.Rand) *genes {
	g := &genes{Shared: draw(r, s.shared)}
	jobs := s.jobs
	if r.IntN(3) == 0 {
		jobs = 1 + r.IntN(s.jobs)
	}
	for range jobs {
		g.Jobs = append(g.Jobs, draw(r, s.job))
	}
	return g
}

func draw(r *rand.Rand, kinds []gene) []int64 {
	out := make([]int64, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].draw(r)
	}
	return out
}

func (k *gene) draw(r *rand.Rand) int64 {
	span := k.high - k.low + 1
	for r.IntN(2) == 0 && span > 1 {
		span = (span + 1) / 2
	}
	return k.low + r.Int64N(span)
}

// mutate returns a neighbour: a few numbers or jobs changed. Their number stays:
// fewer jobs often mean a larger ratio at first, and a lower one to climb to.
// events are times, in units, at which the policy did something.
func (s *species) mutate(r *rand.Rand, g *genes, events []int64) *genes {
	g = g.clone()
	for changes := 1 + r.IntN(3); changes > 0; changes-- {
		s.change(r, g, events)
	}
	return g
}

func (s *species) change(r *rand.Rand, g *genes, events []int64) {
	n := len(g.Jobs)
	i := r.IntN(n)
	switch r.IntN(12) {
	case 0: // another job, which may well be like one there is
		g.Jobs[i] = s.offspring(r, g)
	case 1, 2: // a job becomes like another
		g.Jobs[i] = slices.Clone(g.Jobs[r.IntN(n)])
	case 3: // ties go to the lower index
		k := r.IntN(n)
		g.Jobs[i], g.Jobs[k] = g.Jobs[k], g.Jobs[i]
	case 4, 5: // a release just when, or just after, the policy did something
		s.aim(r, g.Jobs[i], events)
	case 6: // a number becomes the same as another job's
		k := r.IntN(len(s.job))
		g.Jobs[i][k] = g.Jobs[r.IntN(n)][k]
	case 7:
		if len(s.shared) > 0 {
			k := r.IntN(len(s.shared))
			g.Shared[k] = s.shared[k].step(r, g.Shared[k])
		}
	case 8: // a number of all jobs
		k := r.IntN(len(s.job))
		was := g.Jobs[i][k]
		now := s.job[k].step(r, was)
		for _, j := range g.Jobs {
			if j[k] == was {
				j[k] = now
			}
		}
	default:
		k := r.IntN(len(s.job))
		g.Jobs[i][k] = s.job[k].step(r, g.Jobs[i][k])
	}
}

// offspring returns a copy of some job, a number of it changed, or a new job.
func (s *species) offspring(r *rand.Rand, g *genes) []int64 {
	if r.IntN(3) == 0 {
		return draw(r, s.job)
	}
	j := slices.Clone(g.Jobs[r.IntN(len(g.Jobs))])
	if r.IntN(2) == 0 {
		k := r.IntN(len(j))
		j[k] = s.job[k].step(r, j[k])
	}
	return j
}

func (s *species) aim(r *rand.Rand, job []int64, events []int64) {
	if len(events) == 0 {
		return
	}
	at := events[r.IntN(len(events))] + int64(r.IntN(2))
	for k := range s.job {
		if s.job[k].event {
			job[k] = min(max(at, s.job[k].low), s.job[k].high)
		}
	}
}

// step moves a number a little, by a factor, to an end or anywhere.
func (k *gene) step(r *rand.Rand, v int64) int64 {
	switch r.IntN(8) {
	case 0:
		v++
	case 1:
		v--
	case 2:
		v *= 2
	case 3:
		v /= 2
	case 4:
		v += r.Int64N(v/4+2) - r.Int64N(v/4+2)
	case 5:
		v = k.low
	case 6:
		v = k.high
	default:
		v = k.draw(r)
	}
	return min(max(v, k.low), k.high)
}
