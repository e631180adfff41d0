package exhaustive

import (
	"math"
	"math/bits"
	"slices"

	"yardstick/internal/number"
)

// Prices at the root are good ones for all schedules together. At a node some jobs have
// started, so that others prove more of those that wait: a few steps of a climb from the
// prices in force lead to them, and they are in force in the node's subtree. A climb takes
// as long as hundreds of nodes. It is made where the node's siblings took at least as much
// work each, those that prices close at once included.
const (
	worthClimbing = 400     // work on each sibling
	unworthy      = 1 << 40 // the same where place matters, of which prices know nothing: gaps stay that no prices close
	climbSteps    = 2_000   // of the evaluation of prices are as much work as a node, and counted as one
	maxClimb      = 25      // evaluations
	fewestClimbed = 6       // jobs that wait
)

// tried is the work on the children of a node.
type tried struct{ began, children int }

// force is what prices prove of the plans of a subtree: none costs less than least and
// the excesses of the starts since its root, or of the best starts that are left.
type force struct {
	least   number.Uint128
	excess  []excess // by job that waits at the root; nil if nothing is proven
	exceeds int64    // of the jobs started since

	grid  []int64   // bounds of slots
	price []float64 // by job and slot, in units of cost per unit of time
}

// worthy reports whether a climb at the node is worth its work.
func (s *search) worthy(depth int) bool {
	if depth == 0 || s.force.excess == nil || bits.OnesCount64(s.waiting) < s.fewestClimbed {
		return false
	}
	p := s.tried[depth-1]
	return s.nodes-p.began >= s.worthClimbing*max(1, p.children)
}

// atRoot puts the prices of the root in force.
func (s *search) atRoot() {
	s.force = force{least: s.least, excess: s.excess}
	if s.excess == nil {
		return
	}
	scale, _ := s.scale.Float64()
	s.force.grid = s.prices.Grid.Micros()
	slots := s.prices.Grid.Slots()
	s.force.price = make([]float64, len(s.jobs)*slots)
	for i := range s.jobs {
		for k, v := range s.prices.Price[s.jobs[i].id] {
			s.force.price[i*slots+k] = math.Ldexp(float64(v), s.prices.Exponent) / scale
		}
	}
}

// reprice climbs to better prices at the node, of which [relaxation.bound] has just
// looked at the jobs that wait, and puts them in force. It reports whether it did.
func (s *search) reprice() bool {
	base := s.cost // and of the jobs that wait, if they ended now
	for set := s.waiting; set != 0; set &= set - 1 {
		base = base.Plus(number.Product(s.jobs[bits.TrailingZeros64(set)].weight, uint64(s.now)))
	}
	if !base.Less(s.ceiling) {
		return false
	}
	missing := s.ceiling.Minus(base)
	if missing.Hi != 0 || missing.Lo > 1<<53 {
		return false
	}
	n := s.newNodePrices()
	n.climb(float64(missing.Lo))
	s.nodes += n.steps / climbSteps
	s.climbs++
	f, ok := s.prove(n, base, int64(missing.Lo))
	if ok {
		s.force = f
	}
	return ok
}

// nodePrices are prices at a node.
type nodePrices struct {
	packed[float64]
	waiting []int   // the jobs, in the order of packed.jobs
	times   []int64 // packed.grid
}

// newNodePrices returns the prices in force, on their grid from now on, cut besides where
// running jobs end.
func (s *search) newNodePrices() *nodePrices {
	old, p := s.force.grid, &nodePrices{}
	points := []int64{s.now}
	for _, t := range old {
		if t > s.now {
			points = append(points, t)
		}
	}
	for _, st := range s.relax.steps[1:] {
		points = append(points, st.at)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	if len(points) == 1 { // nobody runs, and there are no prices from now on
		points = append(points, s.now+1)
	}
	for _, t := range points {
		p.times = append(p.times, t-s.now)
	}
	for set := s.waiting; set != 0; set &= set - 1 {
		p.waiting = append(p.waiting, bits.TrailingZeros64(set))
	}
	slots, step, from := len(points)-1, 0, 0
	p.price = make([]float64, len(p.waiting)*slots)
	var capacity []int
	for k := range slots {
		for step+1 < len(s.relax.steps) && s.relax.steps[step+1].at <= points[k] {
			step++
		}
		for from+1 < len(old) && old[from+1] <= points[k] {
			from++
		}
		capacity = append(capacity, s.relax.steps[step].total)
		for q, i := range p.waiting {
			if from+1 < len(old) && s.relax.start[i] < points[k+1] {
				p.price[q*slots+k] = s.force.price[i*(len(old)-1)+from]
			}
		}
	}
	var grid []float64
	for _, t := range p.times {
		grid = append(grid, float64(t))
	}
	p.on(grid, capacity)
	for _, i := range p.waiting {
		j := &s.jobs[i]
		p.add(payer[float64]{from: float64(s.relax.start[i] - s.now), length: float64(j.short), weight: float64(j.weight), gang: j.gang})
	}
	p.sort()
	return p
}

// climb raises the bound towards what is missing to the ceiling by Polyak's steps, in the
// directions of Camerini, Fratta and Maffioli: see package bounds, which has the sources.
func (p *nodePrices) climb(missing float64) {
	const (
		momentum = 0.7 // of the direction
		patience = 6   // evaluations without a better value
	)
	slots := p.slots()
	direction, best := make([]float64, len(p.price)), slices.Clone(p.price)
	most, gap, stalled := math.Inf(-1), 0.0, 0
	for k := range maxClimb {
		v := p.value(true)
		if k == 0 {
			gap = missing - v
		}
		if v > most {
			most, stalled = v, 0
			copy(best, p.price)
		} else if stalled++; stalled == patience {
			gap, stalled = gap/2, 0
			copy(p.price, best)
			clear(direction)
			continue
		}
		if v >= missing {
			break
		}
		norm := 0.0
		for x := range direction {
			d := p.held[x]
			if p.price[x] == 0 && d < 0 {
				d = 0
			}
			d += float64(momentum * direction[x])
			direction[x] = d
			norm += float64(float64(d*d) * p.width(x%slots))
		}
		if norm == 0 {
			break
		}
		step := (min(most+gap, missing) - v) / norm
		for x := range p.price {
			p.price[x] = max(0, p.price[x]+float64(step*direction[x]))
		}
	}
	copy(p.price, best)
}

// prove evaluates prices in integers, in units of 2^-shift per unit of time. It returns
// false if they prove nothing, or if the integers could overflow.
//
// No plan costs less than base and the value. A start exceeds the least term of its job by
// at least what the excess says, rounded down. From where waiting alone costs as much as
// is missing to the ceiling, no start is left.
func (s *search) prove(p *nodePrices, base number.Uint128, missing int64) (force, bool) {
	shift := p.shift(missing)
	if shift < 0 {
		return force{}, false
	}
	slots := p.slots()
	e := packed[int64]{price: make([]int64, len(p.price))}
	for x, v := range p.price {
		e.price[x] = int64(math.Ldexp(v, shift))
	}
	e.on(p.times, p.capacity)
	for _, i := range p.waiting {
		j := &s.jobs[i]
		e.add(payer[int64]{from: s.relax.start[i] - s.now, length: j.short, weight: int64(j.weight) << shift, gang: j.gang})
	}
	e.sort()
	value := e.value(false)
	if value < 0 {
		return force{}, false
	}
	f := force{least: base.Plus(number.Uint128{Lo: uint64(value >> shift)})}
	spare := missing<<shift - value
	if spare <= 0 {
		return f, true
	}
	f.price, f.excess = make([]float64, len(s.jobs)*slots), make([]excess, len(s.jobs))
	for _, t := range p.times {
		f.grid = append(f.grid, t+s.now)
	}
	for q, i := range p.waiting {
		copy(f.price[i*slots:(i+1)*slots], p.price[q*slots:(q+1)*slots])
		f.excess[i] = e.excess(q, spare, s.now, shift)
	}
	return f, true
}

// shift returns how many bits after the point the integers of prove may have, such that
// each of them and their sums stay below 2^61; negative if there are none.
//
// A term is at most weights and prices times the latest time that a start is looked at:
// the end of the grid and the longest job, or where waiting costs what is missing.
func (p *nodePrices) shift(missing int64) int {
	weight, price, length, last := 0.0, 0.0, 0.0, p.grid[p.slots()]
	for _, v := range p.price {
		price = max(price, v)
	}
	for _, j := range p.jobs {
		weight = max(weight, j.weight)
		length = max(length, j.from+j.length)
	}
	last += length
	digits := math.Log2((weight+price)*last+float64(missing)+weight) + math.Log2(float64(len(p.jobs)))
	if !(digits < 58) { // nor if it is not a number
		return -1
	}
	return min(40, 58-int(math.Ceil(digits)))
}

// excess returns by how much the starts of a job exceed its least term, up to the first
// that exceeds it by what is spare.
func (e *packed[T]) excess(q int, spare T, now int64, shift int) excess {
	var out excess
	j := &e.jobs[q]
	least, _ := e.choose(q, nil)
	at, term, open := T(0), T(0), true
	note := func() {
		out.at, out.cost = append(out.at, int64(at)+now), append(out.cost, int64(term-least)>>shift)
	}
	e.choose(q, func(t, v T) bool {
		at, term = t, v
		note()
		open = T(j.weight*(t+j.length)) < least+spare
		return open
	})
	if open && term < least+spare { // after the grid the term rises by the weight
		more := (least+spare-term)/j.weight + 1
		at, term = at+more, term+T(more*j.weight)
		note()
	}
	out.later = make([]int64, len(out.at)+1)
	out.later[len(out.at)] = never
	for k := len(out.at) - 1; k >= 0; k-- {
		out.later[k] = min(out.cost[k], out.later[k+1])
	}
	return out
}
