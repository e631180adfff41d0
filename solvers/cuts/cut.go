package cuts

import (
	"fmt"
	"math/big"

	"yardstick/sched"
)

// CutWeight returns the weight, in bytes per iteration, of the edges between
// servers in the job's communication graph under ring AllReduce, with the
// replicas of every stage laid out as well as these counts allow.
//
// Consecutive stages are joined completely with edges of weight
// w_s = 2 D_s/(k_s k_{s+1}), and the replicas of a stage by a ring of edges of
// weight A_s = 2 (k_s − 1)/k_s h_s: k_s edges, or one for two replicas. A stage
// on q ≥ 2 servers cuts q ring edges at best, one if it has two replicas: each
// server holds an arc. As the replicas of a stage are alike to all other
// stages, every stage can have its arcs at once. Hence
//
//	cut(x) = W − Σ_m intra(x_m),  intra(c) = Σ_s w_s c_s c_{s+1} + Σ_s A_s ρ_s(c_s),
//
// W being the weight of all edges and ρ_s(c) the ring edges within a server:
// those of the whole ring if c = k_s, else c − 1 where c > 0.
//
// Source: the graph of the A-SRPT paper, section IV. Not in the source: the
// formula. There is none for double binary trees, where the best layout of
// counts depends on the partition as a whole.
func CutWeight(j *sched.Job, p *sched.Placement) *big.Rat {
	cut := new(big.Rat)
	for s := range j.Stages {
		ring, next := edgeWeights(j, s)
		k, b := int64(replicas(j, s)), int64(replicas(j, s+1))
		edges, pairs := int64(ringEdges(int(k), int(k))), k*b
		for i := range p.Shares {
			c := p.Shares[i].Replicas(s)
			edges -= int64(ringEdges(int(k), c))
			if b > 0 {
				pairs -= int64(c) * int64(p.Shares[i].Replicas(s+1))
			}
		}
		cut.Add(cut, ring.Mul(ring, new(big.Rat).SetInt64(edges)))
		cut.Add(cut, next.Mul(next, new(big.Rat).SetInt64(pairs)))
	}
	return cut
}

// edgeWeights returns A_s and w_s in bytes; w of the last stage is zero.
func edgeWeights(j *sched.Job, s int) (ring, next *big.Rat) {
	k := int64(replicas(j, s))
	ring = new(big.Rat).Mul(big.NewRat(2*(k-1), k), new(big.Rat).SetInt64(int64(j.Stages[s].Params)))
	if b := int64(replicas(j, s+1)); b > 0 {
		return ring, new(big.Rat).Mul(big.NewRat(2, k*b), new(big.Rat).SetInt64(int64(j.Stages[s].Boundary)))
	}
	return ring, new(big.Rat)
}

// ringEdges returns rho_k(c), the edges of a ring of k replicas between c of
// them that form an arc.
func ringEdges(k, c int) int {
	switch {
	case c == 0 || k == 1:
		return 0
	case c == k && k >= 3:
		return k
	}
	return c - 1
}

// MinCut returns a placement of the job with parts[i] GPUs on servers[i] whose
// CutWeight is least, and that weight. A least cut need not give the least
// running time: see BestAlpha for that.
//
// It is found by dynamic programming over servers: g_i(r) is the greatest
// intra weight that i servers can hold with the vector r of replicas still to
// place.
//
// Errors: as for Place; ErrTooLarge also where the weights, brought to a common
// denominator, exceed 63 bits.
func MinCut(in *sched.Instance, id sched.JobID, servers, parts []int) (sched.Placement, *big.Rat, error) {
	p, err := minCut(in, id, servers, parts)
	if err != nil {
		return sched.Placement{}, nil, err
	}
	return p, CutWeight(&in.Jobs[id], &p), nil
}

func minCut(in *sched.Instance, id sched.JobID, servers, parts []int) (sched.Placement, error) {
	if err := checkModel(in, id); err != nil {
		return sched.Placement{}, err
	}
	shares, err := sharesOf(in, id, servers, parts)
	if err != nil {
		return sched.Placement{}, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	if len(in.Jobs[id].Stages) > 1 {
		d, err := newCutter(&in.Jobs[id])
		if err == nil {
			err = d.place(shares)
		}
		if err != nil {
			return sched.Placement{}, fmt.Errorf("cuts: job %d: %w", id, err)
		}
	}
	return sched.Placement{Shares: shares}, nil
}

// cutter runs that dynamic program for one job. States are numbered as in
// mapper.
type cutter struct {
	job        *sched.Job
	ring, next []int64 // A_s and w_s times a common denominator
	radix      []int
	states     int
	fillings   map[int][]filling // by part
}

// filling is one way to fill a part.
type filling struct {
	counts []int
	delta  int
	intra  int64
}

func newCutter(j *sched.Job) (*cutter, error) {
	d := &cutter{job: j, states: 1, fillings: map[int][]filling{}}
	den := big.NewInt(1)
	total := new(big.Rat)
	for s, st := range j.Stages {
		d.radix = append(d.radix, d.states)
		d.states *= st.Replicas + 1
		if d.states > maxStates {
			return nil, fmt.Errorf("more than %d vectors of replicas: %w", maxStates, ErrTooLarge)
		}
		ring, next := edgeWeights(j, s)
		for _, v := range []*big.Rat{ring, next} { // den = lcm(den, denominator of v)
			g := new(big.Int).GCD(nil, nil, den, v.Denom())
			den.Mul(den, g.Quo(v.Denom(), g))
		}
		k, b := int64(st.Replicas), int64(replicas(j, s+1))
		total.Add(total, ring.Mul(ring, new(big.Rat).SetInt64(k)))
		total.Add(total, next.Mul(next, new(big.Rat).SetInt64(k*b)))
	}
	if total.Mul(total, new(big.Rat).SetInt(den)); !total.Num().IsInt64() {
		return nil, fmt.Errorf("edge weights of more than 63 bits: %w", ErrTooLarge)
	}
	scale := new(big.Rat).SetInt(den)
	for s := range j.Stages {
		ring, next := edgeWeights(j, s)
		d.ring = append(d.ring, ring.Mul(ring, scale).Num().Int64())
		d.next = append(d.next, next.Mul(next, scale).Num().Int64())
	}
	return d, nil
}

// intra returns the scaled weight of the edges within a server.
func (d *cutter) intra(c []int) int64 {
	w := int64(0)
	for s, x := range c {
		w += d.ring[s] * int64(ringEdges(d.job.Stages[s].Replicas, x))
		if s+1 < len(c) {
			w += d.next[s] * int64(x) * int64(c[s+1])
		}
	}
	return w
}

// fill lists the ways to fill exactly part GPUs of a server.
func (d *cutter) fill(part int) []filling {
	if list, ok := d.fillings[part]; ok {
		return list
	}
	var list []filling
	eachFilling(d.job, part, func(counts []int) {
		delta := 0
		for s, x := range counts {
			delta += x * d.radix[s]
		}
		list = append(list, filling{append([]int(nil), counts...), delta, d.intra(counts)})
	})
	d.fillings[part] = list
	return list
}

// eachFilling calls f for every vector of part replicas, which f must not keep.
func eachFilling(j *sched.Job, part int, f func(counts []int)) {
	counts := make([]int, len(j.Stages))
	after := make([]int, len(j.Stages)+1) // replicas of this and later stages
	for s := len(j.Stages) - 1; s >= 0; s-- {
		after[s] = after[s+1] + j.Stages[s].Replicas
	}
	var fill func(s, left int)
	fill = func(s, left int) {
		if s == len(counts) {
			f(counts)
			return
		}
		for x := max(0, left-after[s+1]); x <= min(left, j.Stages[s].Replicas); x++ {
			counts[s] = x
			fill(s+1, left-x)
		}
		counts[s] = 0
	}
	fill(0, part)
}

// fits reports whether state r has the filling's replicas left.
func (d *cutter) fits(f *filling, r int) bool {
	for s, x := range f.counts {
		if x > 0 && x > r/d.radix[s]%(d.job.Stages[s].Replicas+1) {
			return false
		}
	}
	return true
}

// returns reports whether state r with the filling's replicas put back exceeds
// no stage.
func (d *cutter) returns(f *filling, r int) bool {
	for s, x := range f.counts {
		k := d.job.Stages[s].Replicas
		if x > 0 && r/d.radix[s]%(k+1)+x > k {
			return false
		}
	}
	return true
}

// place fills in the stages of every share.
func (d *cutter) place(shares []sched.Share) error {
	if d.states*(len(shares)+1) > 4*maxStates {
		return fmt.Errorf("%d states on each of %d servers: %w", d.states, len(shares), ErrTooLarge)
	}
	const unreached = -1
	layers := make([][]int64, len(shares)+1)
	for i := range layers {
		layers[i] = make([]int64, d.states)
		for r := range layers[i] {
			layers[i][r] = unreached
		}
	}
	layers[0][d.states-1] = 0
	reached, work := []int{d.states - 1}, 0
	for i, sh := range shares {
		list := d.fill(sh.GPUs)
		if work += d.states + len(reached)*len(list); work > maxTransitions {
			return fmt.Errorf("more than %d steps of dynamic programming: %w", maxTransitions, ErrTooLarge)
		}
		var next []int
		for _, r := range reached {
			for k := range list {
				f := &list[k]
				if !d.fits(f, r) {
					continue
				}
				to := &layers[i+1][r-f.delta]
				if *to == unreached {
					next = append(next, r-f.delta)
				}
				*to = max(*to, layers[i][r]+f.intra)
			}
		}
		reached = next
	}
	state := 0
	for i := len(shares) - 1; i >= 0; i-- {
		for _, f := range d.fill(shares[i].GPUs) {
			from := state + f.delta
			if d.returns(&f, state) && layers[i][from] != unreached && layers[i][from]+f.intra == layers[i+1][state] {
				shares[i].Stages = append([]int(nil), f.counts...)
				state = from
				break
			}
		}
	}
	return nil
}
