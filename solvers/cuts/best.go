package cuts

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/heuristics/heavyedge"
	"yardstick/sched"
)

// Best is a placement with prescribed parts and what is proven about it.
type Best struct {
	Placement sched.Placement
	Alpha     *big.Rat // of Placement, in seconds
	Lower     *big.Rat // no placement with these parts has a smaller alpha
	Exact     bool     // Alpha equals Lower
	Visits    int      // steps of the search; 0 if the bounds or dynamic programming settled it
}

// DefaultVisits is the limit of BestAlpha for one threshold where none is
// given: some tenths of a second.
const DefaultVisits = 500_000

// stepsPerVisit is how many steps of dynamic programming take about as long as
// a visit of the search.
const stepsPerVisit = 8

// BestAlpha finds a placement of the job with parts[i] GPUs on servers[i] whose
// time per iteration is least. It never runs for long: a threshold of the
// search that takes more than visits steps is left undecided, and the result is
// then the certified interval [Lower, Alpha]. A limit of 0 means DefaultVisits.
//
// It starts from a lower bound (see [packing.lower]) and from the better of
// Heavy-Edge and [packing.intervals]. What lies between them is settled by
// dynamic programming over servers where the vectors of replicas are few, and
// by a search for the least bottleneck elsewhere: see [packing.feasible].
//
// Errors: the parts do not make the gang or do not fit their servers;
// ErrTooLarge if the stages have too many different times; ErrModel.
func BestAlpha(in *sched.Instance, id sched.JobID, servers, parts []int, visits int) (*Best, error) {
	if err := checkModel(in, id); err != nil {
		return nil, err
	}
	shares, err := sharesOf(in, id, servers, parts)
	if err != nil {
		return nil, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	j := &in.Jobs[id]
	if len(j.Stages) == 1 {
		return settled(in, id, shares)
	}
	p, err := newPacking(in, id, shares)
	if err != nil {
		return nil, err
	}
	if visits <= 0 {
		visits = DefaultVisits
	}
	return p.solve(in, id, visits, true)
}

// settled returns shares that are known to be best.
func settled(in *sched.Instance, id sched.JobID, shares []sched.Share) (*Best, error) {
	p := sched.Placement{Shares: shares}
	alpha, err := in.IterTime(id, &p)
	if err != nil {
		return nil, fmt.Errorf("cuts: %w", err)
	}
	return &Best{Placement: p, Alpha: alpha, Lower: alpha, Exact: true}, nil
}

// solve closes the interval between the bound and the quick placements, by
// dynamic programming if small is set and that is short, and by search
// otherwise.
//
// The binary search keeps: every rank below low is refuted, and high is
// attained. A rank that could not be decided ends the refutations; what is
// above it may still be attained.
func (p *packing) solve(in *sched.Instance, id sched.JobID, visits int, small bool) (*Best, error) {
	p.limit = visits
	low := p.lower()
	best, high, err := p.upper(in, id)
	if err != nil {
		return nil, err
	}
	if d := newProgram(p); small && low < high && d != nil {
		switch place, v := d.solve(high, stepsPerVisit*visits); v {
		case attained:
			best, high = place, p.bottleneck(place)
			low = high
		case refuted:
			low = high
		}
	}
	improve := func(threshold int32) verdict {
		v := p.feasible(threshold)
		if v == attained {
			best = p.placement()
			high = p.bottleneck(best)
		}
		return v
	}
	open := high // decided down to here: attained, or beyond the limit
	for low < open {
		mid := low + (open-low)/2
		switch improve(mid) {
		case attained:
			open = min(mid, high)
		case refuted:
			low = mid + 1
		case undecided:
			open = mid
		}
	}
	for below := open; below < high; { // only if something was undecided
		if mid := below + (high-below)/2; improve(mid) != attained {
			below = mid + 1
		}
	}
	return &Best{Placement: best, Alpha: p.values[high], Lower: p.values[low], Exact: low == high, Visits: p.total}, nil
}

// upper returns the better of two quick placements, and its bottleneck.
func (p *packing) upper(in *sched.Instance, id sched.JobID) (sched.Placement, int32, error) {
	parts := make([]heavyedge.Part, len(p.shares))
	for i, sh := range p.shares {
		parts[i] = heavyedge.Part{Server: sh.Server, GPUs: sh.GPUs}
	}
	best, err := heavyedge.Place(&in.Jobs[id], parts, heavyedge.Ring)
	if err != nil {
		return best, 0, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	high := p.bottleneck(best)
	if q, ok := p.intervals(); ok {
		if b := p.bottleneck(q); b < high {
			best, high = q, b
		}
	}
	return best, high, nil
}

// bottleneck returns the rank of a placement's alpha.
func (p *packing) bottleneck(place sched.Placement) int32 {
	worst := int32(0)
	for i, sh := range place.Shares { // in the order of p.shares, by server
		worst = max(worst, p.worst(p.sizeOf[i], sh.Stages))
	}
	return worst
}

// assemble returns the placement with the given contents, one list of vectors per
// slot class.
func (p *packing) assemble(contents [][][]int) sched.Placement {
	next := make([]int, len(p.slots))
	out := sched.Placement{Shares: slices.Clone(p.shares)}
	for i := range out.Shares {
		k := p.slotOf[i]
		out.Shares[i].Stages = slices.Clone(contents[k][next[k]])
		next[k]++
	}
	return out
}
