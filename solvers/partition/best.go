package partition

import (
	"errors"
	"fmt"
	"math/big"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// Best is a placement and what is proven about it.
type Best struct {
	Placement sched.Placement
	Alpha     *big.Rat // of Placement, in seconds
	Lower     *big.Rat // no placement that was asked for has a smaller alpha
	Exact     bool     // Alpha equals Lower
	Visits    int      // steps of the search; 0 if bounds or dynamic programming settled it
}

// DefaultVisits is the limit of a search for one threshold where none is given:
// some tenths of a second.
const DefaultVisits = 500_000

// stepsPerVisit is how many steps of dynamic programming take about as long as
// a visit of the search.
const stepsPerVisit = 8

// BestAlpha finds a placement of the job with parts[i] GPUs on servers[i] whose
// time per iteration is least. It never runs for long: a threshold of the
// search that takes more than visits steps is left undecided, and the result is
// then the certified interval [Lower, Alpha]. A limit of 0 means DefaultVisits.
//
// It starts from a lower bound (see [question.lower]) and from the best of
// Heavy-Edge and [packing.intervals]. What lies between them is settled by
// dynamic programming over servers where the vectors of replicas are few, and
// by a search for the least bottleneck elsewhere: see [question.settle].
//
// Errors: the parts do not make the gang or do not fit their servers;
// ErrNoPlacement if the replicas, each whole on one server, cannot fill them;
// sched.ErrNotApplicable if the stages have too many different times, or the job is no
// gang of fixed stages.
func BestAlpha(in *sched.Instance, id sched.JobID, servers, parts []int, visits int) (*Best, error) {
	if err := checkModel(in, id); err != nil {
		return nil, err
	}
	shares, err := sharesOf(in, id, servers, parts)
	if err != nil {
		return nil, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	if len(in.Jobs[id].Stages) == 1 {
		return only(in, id, shares)
	}
	p, err := newPacking(in, id, shares, visitLimit(visits))
	if err != nil {
		return nil, err
	}
	return p.solve(in, id, true)
}

func visitLimit(visits int) int {
	if visits <= 0 {
		return DefaultVisits
	}
	return visits
}

// only returns the one placement of a job of one stage.
func only(in *sched.Instance, id sched.JobID, shares []sched.Share) (*Best, error) {
	t := in.Jobs[id].Slices(0)
	for i := range shares {
		if shares[i].GPUs%t != 0 {
			return nil, fmt.Errorf("cuts: job %d: replicas of %d GPUs cannot fill a part of %d: %w", id, t, shares[i].GPUs, ErrNoPlacement)
		}
		if t > 1 {
			shares[i].Stages = []int{shares[i].GPUs / t}
		}
	}
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
func (p *packing) solve(in *sched.Instance, id sched.JobID, small bool) (*Best, error) {
	best, err := p.quick(in, id)
	if err != nil {
		return nil, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	high := p.bottleneck(best)
	low := p.relaxed(p.lower(), high)
	if d := newProgram(&p.question); small && low < high && d != nil {
		switch c, v := d.solve(high, stepsPerVisit*p.limit); v {
		case attained:
			best, high = p.assemble(c), p.worstOf(c)
			low = high
		case refuted:
			low = high
		}
	}
	if low < high {
		var c contents
		if low, high, c = p.settle(low, high); c != nil {
			best = p.assemble(c)
		}
	}
	return &Best{Placement: best, Alpha: p.value(high), Lower: p.value(low), Exact: low == high, Visits: p.total}, nil
}

// quick returns the better of two quick placements.
//
// Errors: ErrNoPlacement.
func (p *packing) quick(in *sched.Instance, id sched.JobID) (sched.Placement, error) {
	parts := make([]heavyedge.Part, len(p.shares))
	for i, sh := range p.shares {
		parts[i] = heavyedge.Part{Server: sh.Server, GPUs: sh.GPUs}
	}
	best, err := heavyedge.Place(&in.Jobs[id], parts, heavyedge.Ring)
	if errors.Is(err, heavyedge.ErrParts) {
		err = fmt.Errorf("%w: %w", ErrNoPlacement, err)
	}
	if err != nil {
		return best, err
	}
	if c, err := p.intervals(); err == nil {
		if place := p.assemble(c); p.bottleneck(place) < p.bottleneck(best) {
			best = place
		}
	}
	return best, nil
}
