package veripb

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"yardstick/bounds/proof"
)

// The search goes through the left-shifted schedules in order of time. At a time it asks
// of every job that may start there: does it start now, or later? Then it goes to the
// next release or end. What it knows at any point are bounds on starts: those decided,
// and those that follow, as in a left-shifted schedule a job starts at its release, or
// where too few GPUs were free a slot before.
//
// What a subtree refutes is not all that is known there but some of it, its clause: a
// question to whose answer the refutation does not refer need not be asked.

// MaxTreeJobs is what fits a word of a clause: of more jobs, prices alone prove bounds.
const MaxTreeJobs = 64

// state is what is known: the earliest start of every job, and its start if decided.
type state struct {
	now, free int64
	earliest  []int64
	started   uint64
	// order has the started jobs, the last one last.
	order []int
}

func (st *state) has(i int) bool { return st.started&(1<<i) != 0 }

// window returns the starts that are left to job i.
func (st *state) window(m *model, i int) (from, to int64) {
	if from = st.earliest[i]; st.has(i) {
		return from, from
	}
	return from, m.last[i]
}

func (st *state) clone() *state {
	c := *st
	c.earliest, c.order = slices.Clone(st.earliest), slices.Clone(st.order)
	return &c
}

// clause says which of the bounds of a state cannot all hold: that job i starts at its
// earliest start or later for i in later, and not after it for i in sooner.
type clause struct{ later, sooner uint64 }

type kind uint8

const (
	priced  kind = iota // prices refute the clause
	outside             // a job has no start left
	split               // job starts now (left), or later (right)
	step                // from a time to the next one
)

// node is a refutation of its clause. The bounds are those of its state.
type node struct {
	kind
	clause
	st          *state
	job         int     // of outside and split
	prices      *prices // of priced
	left, right *node   // right of split; left of split and step
	next        *state  // of step: what is known at the next time
	need, runs  uint64  // of step: jobs whose bounds follow, and that run
}

// search holds what is common to the whole tree.
type search struct {
	ctx    context.Context
	m      *model
	rows   []row
	scale  int64
	value  int64 // no schedule costs less
	pool   []*prices
	ascent *ascent
	start  []float64 // prices for the root to start from
	nodes  int
	limit  int
	// climbed has the states at which prices were looked for in vain, and again says that
	// the tree is made from prices that are there.
	climbed map[string]bool
	again   bool
}

// poolSize limits the prices that are tried first, and maxTried those of which the one with
// the smallest clause is taken.
const (
	poolSize = 48
	maxTried = 6
)

// refute returns the root of a proof that no schedule of the model costs less than value.
func (s *search) refute() (*node, error) {
	s.pool = []*prices{s.reduce(s.empty())}
	st := s.m.root()
	s.climbRoot(st)
	from := slices.Clone(s.ascent.bestPrices)
	s.climbed = map[string]bool{}
	root, err := s.node(st, from)
	if err != nil {
		return nil, err
	}
	// Once more, with all prices that serve a leaf at hand, the most useful first: that is
	// a smaller tree, of fewer prices.
	count := map[*prices]int{}
	root.count(count)
	empty := s.pool[0]
	delete(count, empty)
	s.pool = slices.SortedFunc(maps.Keys(count), func(a, b *prices) int { return cmp.Or(count[b]-count[a], a.made-b.made) })
	s.pool = slices.Insert(s.pool, 0, empty)
	s.nodes, s.again = 0, true
	return s.node(st, from)
}

// count counts the leaves by their prices.
func (n *node) count(leaves map[*prices]int) {
	if n.kind == priced {
		leaves[n.prices]++
	}
	if n.left != nil {
		n.left.count(leaves)
	}
	if n.right != nil {
		n.right.count(leaves)
	}
}

// key returns what tells a state from others.
func (st *state) key() string {
	b := make([]byte, 0, 8+2*len(st.earliest))
	b = binary.AppendUvarint(b, st.started)
	for _, t := range st.earliest {
		b = binary.AppendVarint(b, t)
	}
	return string(binary.AppendVarint(b, st.now))
}

// root returns what is known of all schedules.
func (m *model) root() *state {
	st := &state{now: m.first, free: m.Capacity}
	for _, j := range m.Jobs {
		st.earliest = append(st.earliest, j.Release)
	}
	return st
}

// rootWork limits the first ascent, in starts priced.
const rootWork = 3_000_000_000

// climbRoot looks for prices of the root.
func (s *search) climbRoot(st *state) {
	starts := int64(1)
	for i, j := range s.m.Jobs {
		starts += s.m.last[i] - j.Release + 1
	}
	steps := int(min(3000, rootWork/(starts*int64(len(s.rows)))))
	s.ascent.climb(st, s.start, s.target(), s.aim(0.2), steps, 300)
}

func (s *search) empty() [][]int64 {
	list := make([][]int64, len(s.rows))
	for r := range list {
		list[r] = make([]int64, s.m.end-s.m.first)
	}
	return list
}

// target is what a bound has to exceed, with a margin for the rounding of its prices.
func (s *search) target() float64 {
	return float64(s.value) - 1 + min(0.9, 0.2*float64(s.m.Capacity*(s.m.end-s.m.first))/float64(s.scale))
}

// aim returns the target and a share of what it exceeds the cost without any wait by.
func (s *search) aim(share float64) float64 {
	alone := 0.0
	for _, j := range s.m.Jobs {
		alone += float64(j.Weight * (j.Release + j.Duration))
	}
	return s.target() + 1 + share*(s.target()-alone)
}

// node refutes a state, with prices to start from.
func (s *search) node(st *state, from []float64) (*node, error) {
	if s.nodes++; s.nodes > s.limit {
		return nil, fmt.Errorf("veripb: %w: %d nodes", proof.ErrLimit, s.limit)
	}
	if s.nodes%256 == 0 && s.ctx.Err() != nil {
		return nil, fmt.Errorf("veripb: %w: %w", proof.ErrLimit, s.ctx.Err())
	}
	for i := range s.m.Jobs {
		if st.earliest[i] > s.m.last[i] {
			return &node{kind: outside, st: st, job: i, clause: clause{later: 1 << i}}, nil
		}
	}
	if n := s.price(st); n != nil {
		return n, nil
	}
	if len(st.order) == len(s.m.Jobs) {
		cost, err := s.m.Evaluate(st.earliest)
		if err != nil {
			return nil, fmt.Errorf("veripb: the search ended at no schedule: %w", err)
		}
		return nil, &proof.CheaperError{Cost: cost, Starts: slices.Clone(st.earliest)}
	}
	if key := st.key(); !s.climbed[key] {
		s.ascent.climb(st, from, s.target(), s.aim(0.05), 120, 30)
		from = slices.Clone(s.ascent.bestPrices)
		if k := s.round(from); s.excess(k, st) > 0 {
			k.made = s.nodes
			s.pool = slices.Insert(s.pool, 1, k)
			if !s.again {
				s.pool = s.pool[:min(len(s.pool), poolSize)]
			}
			return s.leaf(k, st), nil
		}
		s.climbed[key] = true
	}
	if len(s.m.Jobs) > MaxTreeJobs {
		return nil, fmt.Errorf("veripb: %w: prices alone reach less than %d, and no tree has more than %d jobs", proof.ErrLimit, s.value, MaxTreeJobs)
	}
	if i := s.candidate(st); i >= 0 {
		return s.split(st, i, from)
	}
	return s.step(st, from)
}

// candidate returns the job whose start is asked for: of those that may start now the one
// with the most weight for its work, or -1.
func (s *search) candidate(st *state) int {
	best := -1
	for i, j := range s.m.Jobs {
		if st.has(i) || st.earliest[i] != st.now || j.Gang > st.free {
			continue
		}
		if best < 0 || float64(j.Weight)*float64(s.m.Jobs[best].Duration*s.m.Jobs[best].Gang) >
			float64(s.m.Jobs[best].Weight)*float64(j.Duration*j.Gang) {
			best = i
		}
	}
	return best
}

func (s *search) split(st *state, i int, from []float64) (*node, error) {
	now := st.clone()
	now.free -= s.m.Jobs[i].Gang
	now.started |= 1 << i
	now.order = append(now.order, i)
	left, err := s.node(now, from)
	if err != nil {
		return nil, err
	}
	if st.now == s.m.last[i] { // no start is later: the bound says nothing
		left.sooner &^= 1 << i
	}
	if left.sooner&(1<<i) == 0 {
		return left, nil
	}
	later := st.clone()
	later.earliest[i] = st.now + 1
	right, err := s.node(later, from)
	if err != nil || right.later&(1<<i) == 0 {
		return right, err
	}
	c := clause{later: left.later | right.later&^(1<<i), sooner: left.sooner&^(1<<i) | right.sooner}
	return &node{kind: split, st: st, job: i, left: left, right: right, clause: c}, nil
}

// step goes to the next release or end. A job that fits beside those running could start
// a slot earlier anywhere until then, and even there; one that does not fit can start
// there, but not before.
func (s *search) step(st *state, from []float64) (*node, error) {
	next := st.clone()
	next.now = math.MaxInt64
	waiting, running := uint64(0), uint64(0)
	latest := int64(0)
	for i, j := range s.m.Jobs {
		at := st.earliest[i]
		latest = max(latest, s.m.last[i])
		switch {
		case st.has(i) && at+j.Duration > st.now:
			running |= 1 << i
			next.now = min(next.now, at+j.Duration)
		case !st.has(i) && j.Release > st.now:
			next.now = min(next.now, j.Release)
		case !st.has(i):
			waiting |= 1 << i
		}
	}
	if next.now == math.MaxInt64 {
		next.now = latest + 1
	}
	fits := uint64(0)
	for i := range s.m.Jobs {
		if waiting&(1<<i) == 0 {
			continue
		}
		if next.earliest[i] = next.now; s.m.Jobs[i].Gang <= st.free {
			fits |= 1 << i
			next.earliest[i]++
		}
	}
	for set := running; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); st.earliest[i]+s.m.Jobs[i].Duration == next.now {
			next.free += s.m.Jobs[i].Gang
		}
	}
	child, err := s.node(next, from)
	if err != nil {
		return nil, err
	}
	need := child.later & waiting
	if need == 0 {
		return child, nil
	}
	n := &node{kind: step, st: st, left: child, next: next, clause: child.clause}
	n.later |= need | running
	n.sooner |= running
	if need&fits != 0 { // what does not run a slot before has to be known of all
		need = waiting
		n.later |= waiting
		n.sooner |= st.started
	}
	n.need, n.runs = need, running
	return n, nil
}

// round returns prices in integers. Slots without a row have none: whatever runs there
// fits, so that prices there lower the bound.
func (s *search) round(price []float64) *prices {
	list := s.empty()
	slots := s.ascent.slots
	for r := range list {
		for t := range list[r] {
			if s.m.rows[s.m.first+int64(t)] == 0 {
				continue
			}
			list[r][t] = int64(math.Round(min(price[r*slots+t], float64(s.value)) * float64(s.scale)))
		}
	}
	return s.reduce(list)
}

// excess returns by how much more than all cheaper schedules allow the state costs under
// the prices: more than 0 refutes it.
func (s *search) excess(k *prices, st *state) int64 {
	sum := -k.paid - s.scale*(s.value-1)
	for i := range s.m.Jobs {
		from, to := st.window(s.m, i)
		sum += k.least(s.m, i, from, to)
	}
	return sum
}

// price returns a leaf if prices of the pool refute the state, or nil. Of several prices
// those serve whose clause has the fewest bounds.
func (s *search) price(st *state) *node {
	var best *node
	tried := 0
	for at, k := range s.pool {
		if s.excess(k, st) <= 0 {
			continue
		}
		if !s.again {
			if at > 1 { // the first stays: without prices, a schedule refutes itself
				copy(s.pool[2:at+1], s.pool[1:at])
				s.pool[1] = k
			}
			return s.leaf(k, st)
		}
		if n := s.leaf(k, st); best == nil || n.size() < best.size() {
			best = n
		}
		if tried++; tried == maxTried {
			break
		}
	}
	return best
}

// size returns how many bounds a clause has.
func (c clause) size() int { return bits.OnesCount64(c.later) + bits.OnesCount64(c.sooner) }

// leaf returns a leaf whose clause has few of the state's bounds: those that are not
// needed are left out, the latest decisions first.
func (s *search) leaf(k *prices, st *state) *node {
	n := &node{kind: priced, st: st, prices: k}
	excess := s.excess(k, st)
	drop := func(i int, from, to int64) bool {
		f, t := n.window(s.m, i)
		loss := k.least(s.m, i, f, t) - k.least(s.m, i, from, to)
		if loss >= excess {
			return false
		}
		excess -= loss
		return true
	}
	n.later = 1<<len(s.m.Jobs) - 1
	n.sooner = st.started
	for _, i := range slices.Backward(st.order) {
		if drop(i, s.m.Jobs[i].Release, s.m.last[i]) {
			n.later &^= 1 << i
			n.sooner &^= 1 << i
		} else if drop(i, st.earliest[i], s.m.last[i]) {
			n.sooner &^= 1 << i
		} else if drop(i, s.m.Jobs[i].Release, st.earliest[i]) {
			n.later &^= 1 << i
		}
	}
	for i := range s.m.Jobs {
		if !st.has(i) && drop(i, s.m.Jobs[i].Release, s.m.last[i]) {
			n.later &^= 1 << i
		}
	}
	return n
}

// window returns the starts of job i that the bounds of the clause leave.
func (n *node) window(m *model, i int) (from, to int64) {
	from, to = m.Jobs[i].Release, m.last[i]
	if n.later&(1<<i) != 0 {
		from = n.st.earliest[i]
	}
	if n.sooner&(1<<i) != 0 {
		to = n.st.earliest[i]
	}
	return from, to
}
