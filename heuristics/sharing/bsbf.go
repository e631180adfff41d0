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
		option, r := c.options.within(g.room), &m.rules[c.task][g.task]
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
	r := &m.rules[c.task][job.task]
	a := w.time(&c.options[option])
	gap := job.remaining(v.Now()) - r.cost*a
	if slack := tiny * (job.total + 2*r.xiA*a); gap > slack || gap < -slack {
		return gap > 0, nil
	}
	p, err := m.pair(v, b, c, w, &c.options[option], k)
	if err != nil {
		return false, err
	}
	return p.Share(), nil
}

// pair returns a waiting and an active job in exact numbers.
func (m *bestBenefit) pair(v *sim.View, b *board, c *class, w *waiting, option *sched.Accumulation, k int32) (*theorems.Pair, error) {
	job := &b.jobs[k]
	r := &m.rules[c.task][job.task]
	left, err := job.exactly(v)
	if err != nil {
		return nil, err
	}
	a := new(big.Rat).SetInt64(w.iters)
	return &theorems.Pair{New: a.Mul(a, big.NewRat(int64(option.Iter), 1000)), Running: left,
		XiNew: new(big.Rat).SetFloat64(r.xiA), XiRunning: new(big.Rat).SetFloat64(r.xiB)}, nil
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
		option, r := c.options.within(g.room), &m.rules[c.task][g.task]
		if option < 0 || r.never {
			continue
		}
		a := w.time(&c.options[option])
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
		pair, err := m.pair(v, b, c, w, &c.options[c.options.within(p.room)], p.index)
		if err != nil {
			return 0, err
		}
		sums[i] = pair.Sum(new(big.Rat))
	}
	return cmp.Or(sums[0].Cmp(sums[1]), cmp.Compare(b.jobs[x.index].id, b.jobs[y.index].id)), nil
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
	if m.options.Recheck {
		pays, err := m.pays(v, b, c, w, &c.options[option])
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
