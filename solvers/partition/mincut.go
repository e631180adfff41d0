package partition

import (
	"fmt"
	"math/big"

	"yardstick/sched"
)

// MinCut returns a placement of the job with parts[i] GPUs on servers[i] whose
// CutWeight is least, and that weight. A least cut need not give the least
// running time: see BestAlpha for that.
//
// It is found by dynamic programming over servers: g_i(r) is the greatest
// intra weight that i servers can hold with the vector r of replicas still to
// place.
//
// Errors: the parts do not make the gang or do not fit their servers;
// ErrNoPlacement; sched.ErrNotApplicable if the vectors are too many, the weights,
// brought to a common denominator, exceed 63 bits, or the job is no gang of fixed
// stages.
func MinCut(in *sched.Instance, id sched.JobID, servers, parts []int) (sched.Placement, *big.Rat, error) {
	if err := checkModel(in, id); err != nil {
		return sched.Placement{}, nil, err
	}
	j := &in.Jobs[id]
	shares, err := sharesOf(in, id, servers, parts)
	if err != nil {
		return sched.Placement{}, nil, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	var p sched.Placement
	if len(j.Stages) == 1 {
		b, err := only(in, id, shares)
		if err != nil {
			return sched.Placement{}, nil, err
		}
		p = b.Placement
	} else {
		d, err := newCutter(j)
		if err == nil {
			err = d.place(shares)
		}
		if err != nil {
			return sched.Placement{}, nil, fmt.Errorf("cuts: job %d: %w", id, err)
		}
		p.Shares = shares
	}
	return p, CutWeight(j, &p), nil
}

// cutter runs that dynamic program for one job. States are numbered as in
// mapper.
type cutter struct {
	*shape
	reduce   []int64 // A_s times a common denominator
	links    []scaledLink
	radix    []int
	states   int
	fillings map[int][]filling // by part
}

type scaledLink struct {
	from, to int
	weight   int64
}

// filling is one way to fill a part.
type filling struct {
	counts []int
	delta  int
	intra  int64
}

func newCutter(j *sched.Job) (*cutter, error) {
	d := &cutter{shape: newShape(j), states: 1, fillings: map[int][]filling{}}
	for _, k := range d.replicas {
		d.radix = append(d.radix, d.states)
		if d.states *= k + 1; d.states > maxStates {
			return nil, fmt.Errorf("%w: more than %d vectors of replicas: too large to enumerate", sched.ErrNotApplicable, maxStates)
		}
	}
	w := newWeights(j)
	den := big.NewInt(1)
	total := new(big.Rat)
	add := func(v *big.Rat, edges int) {
		g := new(big.Int).GCD(nil, nil, den, v.Denom())
		den.Mul(den, g.Quo(v.Denom(), g)) // lcm(den, denominator of v)
		total.Add(total, new(big.Rat).Mul(v, big.NewRat(int64(edges), 1)))
	}
	for s, v := range w.reduce {
		add(v, d.replicas[s])
	}
	for _, l := range w.links {
		add(l.weight, d.replicas[l.from]*d.replicas[l.to])
	}
	if total.Mul(total, new(big.Rat).SetInt(den)); !total.Num().IsInt64() {
		return nil, fmt.Errorf("%w: edge weights of more than 63 bits: too large to enumerate", sched.ErrNotApplicable)
	}
	scaled := func(v *big.Rat) int64 {
		n := new(big.Int).Quo(den, v.Denom())
		return n.Mul(n, v.Num()).Int64()
	}
	for _, v := range w.reduce {
		d.reduce = append(d.reduce, scaled(v))
	}
	for _, l := range w.links {
		d.links = append(d.links, scaledLink{l.from, l.to, scaled(l.weight)})
	}
	return d, nil
}

// intra returns the scaled weight of the edges within a server.
func (d *cutter) intra(c []int) int64 {
	w := int64(0)
	for s, x := range c {
		w += d.reduce[s] * int64(ringEdges(d.replicas[s], x))
	}
	for _, l := range d.links {
		w += l.weight * int64(c[l.from]) * int64(c[l.to])
	}
	return w
}

// fill lists the ways to fill exactly part GPUs of a server.
func (d *cutter) fill(part int) []filling {
	if list, ok := d.fillings[part]; ok {
		return list
	}
	var list []filling
	d.eachFilling(part, func(counts []int) {
		delta := 0
		for s, x := range counts {
			delta += x * d.radix[s]
		}
		list = append(list, filling{append([]int(nil), counts...), delta, d.intra(counts)})
	})
	d.fillings[part] = list
	return list
}

// fits reports whether state r has the filling's replicas left.
func (d *cutter) fits(f *filling, r int) bool {
	for s, x := range f.counts {
		if x > 0 && x > r/d.radix[s]%(d.replicas[s]+1) {
			return false
		}
	}
	return true
}

// returns reports whether state r with the filling's replicas put back exceeds
// no stage.
func (d *cutter) returns(f *filling, r int) bool {
	for s, x := range f.counts {
		if k := d.replicas[s]; x > 0 && r/d.radix[s]%(k+1)+x > k {
			return false
		}
	}
	return true
}

// place fills in the stages of every share.
func (d *cutter) place(shares []sched.Share) error {
	if d.states*(len(shares)+1) > 4*maxStates {
		return fmt.Errorf("%w: %d states on each of %d servers: too large to enumerate", sched.ErrNotApplicable, d.states, len(shares))
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
			return fmt.Errorf("%w: more than %d steps of dynamic programming: too large to enumerate", sched.ErrNotApplicable, maxTransitions)
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
	if len(reached) == 0 {
		return ErrNoPlacement
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
