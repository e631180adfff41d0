package sharing

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Condition says when a waiting job joins a running one.
type Condition uint8

// The conditions.
const (
	// Corrected compares the two sums of completion times, as the sentence after the
	// proof of Theorem 1 has it: [theorems.Pair.Share]. It is right for every pair.
	Corrected Condition = iota
	// Case2Everywhere is an ablation: the condition of Case 2 of the proof,
	// [theorems.Pair.ShareInCase2], applied to every pair and not only in its case.
	Case2Everywhere
)

var conditionNames = []string{"corrected", "case-2-everywhere"}

func (c Condition) String() string { return conditionNames[c] }

// MarshalText implements encoding.TextMarshaler.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Condition) UnmarshalText(text []byte) error {
	i := slices.Index(conditionNames, string(text))
	if string(text) == "printed" {
		return errors.New(`"printed" is now "case-2-everywhere": the paper prints that condition for Case 2 alone`)
	}
	if i < 0 {
		return fmt.Errorf("condition %q is unknown: %v", text, conditionNames)
	}
	*c = Condition(i)
	return nil
}

// Options are the choices of SJF-BSBF. The zero value is the paper's algorithm,
// which compares sums.
type Options struct {
	Condition Condition
	// Recheck compares, once all partners are known, starting now with waiting
	// for the last of them, and only starts if that is no worse. Not in the
	// source, which looks at pairs.
	Recheck bool
	// Placement chooses among free GPUs. It does not matter to running times.
	Placement sim.Rule
}

// BSBF returns SJF-BSBF. A job for which too few GPUs are free joins the running
// jobs with which Theorem 1 lets it share, those first with which the pair
// completes earliest, and takes free GPUs only where these are too few. xi is
// the instance's interference table.
//
// Source: the SJF-BSBF paper, Algorithms 1 and 2.
func BSBF(xi [][]float64, o Options) *Policy {
	m := &bestBenefit{options: o, rules: make([][]rule, len(xi))}
	for a := range xi {
		for b := range xi {
			m.rules[a] = append(m.rules[a], newRule(xi[a][b], xi[b][a], o.Condition))
		}
	}
	return &Policy{name: "sjf-bsbf", xi: xi, match: m, placement: o.Placement}
}

// rule is what the condition says about a waiting job of one task beside a
// running one of another.
type rule struct {
	xiA, xiB      float64
	always, never bool
	cost          float64 // otherwise: join iff cost·a ≤ b
}

func newRule(xiA, xiB float64, c Condition) rule {
	p := theorems.Pair{XiNew: new(big.Rat).SetFloat64(xiA), XiRunning: new(big.Rat).SetFloat64(xiB)}
	r := rule{xiA: xiA, xiB: xiB}
	if c == Case2Everywhere {
		r.always = p.ShareInCase2()
		r.never = !r.always
		return r
	}
	r.always = p.Always()
	r.cost, _ = p.Cost().Float64()
	return r
}

// bestBenefit matches by Algorithms 1 and 2.
type bestBenefit struct {
	options Options
	rules   [][]rule // by the tasks of the waiting and the running job
	found   []partner
}

// partner is a running job that a waiting one may join.
type partner struct {
	index int32
	sum   float64 // of the completion times of the two
	slack float64 // how far sum may be off
	a     float64 // what the waiting job needs alone beside it
	pair  rule
	room  sched.Bytes
	exact *big.Rat // sum, where interference depends on the accumulation; nil elsewhere
}

// tiny bounds the relative errors of floating point here, generously.
const tiny = 1.0 / (1 << 30)

// time returns what a job needs alone with an option, in microseconds.
func (w *waiting) time(a *sched.Accumulation) float64 {
	return float64(w.iters) * float64(a.Iter) / 1000
}

func (m *bestBenefit) lack(v *sim.View, b *board, c *class, w *waiting) (int, error) {
	need := c.gang - b.free
	for i := range b.groups {
		g := &b.groups[i]
		if g.alone == 0 {
			continue
		}
		if c.varied {
			for _, k := range g.members {
				option, _, err := m.best(v, b, c, w, k)
				if err != nil {
					return 0, err
				}
				if option >= 0 {
					need -= b.jobs[k].alone
				}
			}
			if need <= 0 {
				break
			}
			continue
		}
		option, r := c.options.within(g.room), m.rule(c, 0, g.task)
		switch {
		case option < 0 || r.never:
		case r.always:
			need -= g.alone
		default:
			for _, k := range g.members {
				joins, err := m.joins(v, b, c, w, option, k)
				if err != nil {
					return 0, err
				}
				if joins {
					need -= b.jobs[k].alone
				}
				if need <= 0 {
					break
				}
			}
		}
		if need <= 0 {
			break
		}
	}
	return need, nil
}

// joins reports whether a waiting job, with the given option, shares with an
// active one if the rule of their tasks depends on their times.
func (m *bestBenefit) joins(v *sim.View, b *board, c *class, w *waiting, option int, k int32) (bool, error) {
	job := &b.jobs[k]
	r := m.rule(c, option, job.task)
	a := w.time(&c.options[option].Accumulation)
	gap := job.remaining(v.Now()) - r.cost*a
	if slack := tiny * (job.total + 2*r.xiA*a); gap > slack || gap < -slack {
		return gap > 0, nil
	}
	p, err := m.pair(v, b, c, w, option, k)
	if err != nil {
		return false, err
	}
	return p.Share(), nil
}

// pair returns a waiting and an active job in exact numbers.
func (m *bestBenefit) pair(v *sim.View, b *board, c *class, w *waiting, option int, k int32) (*theorems.Pair, error) {
	job := &b.jobs[k]
	r := m.rule(c, option, job.task)
	left, err := job.exactly(v)
	if err != nil {
		return nil, err
	}
	a := new(big.Rat).SetInt64(w.iters)
	return &theorems.Pair{New: a.Mul(a, big.NewRat(int64(c.options[option].Iter), 1000)), Running: left,
		XiNew: new(big.Rat).SetFloat64(r.xiA), XiRunning: new(big.Rat).SetFloat64(r.xiB)}, nil
}

// rule returns that of a waiting job with an option beside a running job of a row.
func (m *bestBenefit) rule(c *class, option, row int) *rule {
	return &m.rules[c.options[option].row][row]
}

// best is Algorithm 2 where interference depends on the accumulation: of the options that
// fit beside a running job that with the least sum of completion times, each pair
// sharing or not as the condition says, and the one with the fewest steps of equal ones. It
// returns −1 where that is to wait, else the option and the sum.
//
// Its answer changes only once, from joining to waiting, as the waiting job gets longer,
// and only once, the other way, as the running one comes to its end: under Corrected, it
// is whether the least of the sums of those who share is at most that of waiting with the
// fastest option, 2b + a; for each option, the difference of the two rises with the number
// of iterations, and has one sign on either side of some b.
func (m *bestBenefit) best(v *sim.View, b *board, c *class, w *waiting, k int32) (option int, sum *big.Rat, err error) {
	option = -1
	room := b.memory - b.jobs[k].option.Memory
	for o := range c.options {
		if c.options[o].Memory > room {
			continue
		}
		p, err := m.pair(v, b, c, w, o, k)
		if err != nil {
			return 0, nil, err
		}
		share := p.Share()
		if m.options.Condition == Case2Everywhere {
			share = p.ShareInCase2()
		}
		t := p.Sum(new(big.Rat))
		if !share {
			t.Add(p.Running, p.Running).Add(t, p.New)
		}
		if sum == nil || t.Cmp(sum) < 0 {
			option, sum = -1, t
			if share {
				option = o
			}
		}
	}
	return option, sum, nil
}

// together returns the sum of completion times if the pair starts sharing now.
func together(a, b, xiA, xiB float64) float64 {
	if slow := xiA * a; slow <= xiB*b {
		return 2*slow - slow/xiB + b
	}
	return 2*xiB*b + a - xiB*b/xiA
}

// gather finds the partners and orders them by the sum of completion times.
func (m *bestBenefit) gather(v *sim.View, b *board, c *class, w *waiting) error {
	m.found = m.found[:0]
	for i := range b.groups {
		g := &b.groups[i]
		if c.varied {
			for _, k := range g.members {
				option, sum, err := m.best(v, b, c, w, k)
				if err != nil {
					return err
				}
				if option >= 0 {
					m.found = append(m.found, partner{index: k, exact: sum, room: g.room})
				}
			}
			continue
		}
		option, r := c.options.within(g.room), m.rule(c, 0, g.task)
		if option < 0 || r.never {
			continue
		}
		a := w.time(&c.options[option].Accumulation)
		for _, k := range g.members {
			if !r.always {
				joins, err := m.joins(v, b, c, w, option, k)
				if err != nil {
					return err
				}
				if !joins {
					continue
				}
			}
			job := &b.jobs[k]
			m.found = append(m.found, partner{index: k, sum: together(a, job.remaining(v.Now()), r.xiA, r.xiB),
				slack: tiny * (4*r.xiB*job.total + 4*r.xiA*a), a: a, pair: *r, room: g.room})
		}
	}
	var failed error
	slices.SortFunc(m.found, func(x, y partner) int {
		if gap := x.sum - y.sum; gap > x.slack+y.slack || gap < -x.slack-y.slack {
			return cmp.Compare(gap, 0)
		}
		order, err := m.compare(v, b, c, w, &x, &y)
		failed = cmp.Or(failed, err)
		return order
	})
	return failed
}

// compare orders partners exactly; equal ones by job.
func (m *bestBenefit) compare(v *sim.View, b *board, c *class, w *waiting, x, y *partner) (int, error) {
	var sums [2]*big.Rat
	for i, p := range []*partner{x, y} {
		if p.exact != nil {
			sums[i] = p.exact
			continue
		}
		pair, err := m.pair(v, b, c, w, c.options.within(p.room), p.index)
		if err != nil {
			return 0, err
		}
		sums[i] = pair.Sum(new(big.Rat))
	}
	return cmp.Or(sums[0].Cmp(sums[1]), cmp.Compare(b.jobs[x.index].id, b.jobs[y.index].id)), nil
}

// agree returns the option of a job beside all partners that were found, where
// interference depends on it: of those that fit, that with the least sum over the pairs.
// Not in the source, which looks at pairs.
func (m *bestBenefit) agree(v *sim.View, b *board, c *class, w *waiting, room sched.Bytes) (option int, err error) {
	var least *big.Rat
	for o := range c.options {
		if c.options[o].Memory > room {
			continue
		}
		sum := new(big.Rat)
		for i := range m.found {
			p, err := m.pair(v, b, c, w, o, m.found[i].index)
			if err != nil {
				return 0, err
			}
			sum.Add(sum, p.Sum(new(big.Rat)))
		}
		if least == nil || sum.Cmp(least) < 0 {
			option, least = o, sum
		}
	}
	for i := range m.found {
		m.found[i].pair = *m.rule(c, option, b.jobs[m.found[i].index].task)
	}
	return option, nil
}

func (m *bestBenefit) choose(v *sim.View, b *board, c *class, w *waiting) ([]int32, int, bool, error) {
	if err := m.gather(v, b, c, w); err != nil {
		return nil, 0, false, err
	}
	gpus := make([]int32, 0, c.gang)
	room := b.memory
	used := 0
	for ; used < len(m.found) && len(gpus) < c.gang; used++ {
		p := &m.found[used]
		room = min(room, p.room)
		for _, g := range b.jobs[p.index].gpus {
			if len(gpus) < c.gang && b.on[g][1] == none {
				gpus = append(gpus, g)
			}
		}
	}
	m.found = m.found[:used]
	option := c.options.within(room)
	if c.varied {
		var err error
		if option, err = m.agree(v, b, c, w, room); err != nil {
			return nil, 0, false, err
		}
	}
	if m.options.Recheck {
		pays, err := m.pays(v, b, c, w, option)
		if err != nil || !pays {
			return nil, 0, false, err
		}
	}
	if rest := c.gang - len(gpus); rest > 0 {
		shares, ok := v.Cluster().Pick(m.options.Placement, rest)
		if !ok {
			return nil, 0, false, fmt.Errorf("sharing: too few GPUs for job %d, which lacks none", w.id)
		}
		gpus = b.numbers(gpus, shares)
	}
	return gpus, option, true, nil
}
