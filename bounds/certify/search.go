package certify

import (
	"math"
	"math/big"

	"yardstick/sched"
)

// A search replays the proof of an optimum, or of any bound, from nothing but its
// value: it goes through all schedules that could cost less, and finds none. It is
// another search than those that find optima, and simpler.

// Limits of a search.
const (
	searchNodes = 1_500_000
	searchJobs  = 16
)

// searchData say nothing: the value is all that a search needs.
type searchData struct{}

func (c *Checker) search(d *document) (proof, error) {
	var data searchData
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	if len(c.in.Jobs) > searchJobs {
		return proof{}, tooHard("%d jobs are too many to search", len(c.in.Jobs))
	}
	t, err := c.target(d)
	if err != nil {
		return proof{}, err
	}
	kind, slotted := d.Class.Kind, d.Class.Slotted
	switch {
	case kind == sched.N && (c.in.Model == sched.ModelGang || c.in.Model == sched.ModelPreemptive):
		err = c.searchGangs(d, t)
	case kind == sched.P && slotted && c.in.Model == sched.ModelPreemptive:
		err = c.searchBouts(d, t)
	case kind == sched.S && slotted && c.in.Model == sched.ModelSharing:
		err = c.searchSharing(d, t)
	case kind == sched.E && slotted && c.in.Model == sched.ModelElastic:
		err = c.searchElastic(d, t)
	default:
		return proof{}, tooHard("no search goes through class %v of the %s model", d.Class, c.in.Model)
	}
	return proof{d.Class, d.value}, err
}

// target is what a schedule has to beat: with integer weights, Σ w_j C_j, or
// max C_j, must be at most that.
type target struct {
	most     int64
	weight   []int64
	makespan bool
	equal    bool // all weights are one number
}

// target restates the value for Σ w_j C_j, with weights multiplied by their common
// denominator.
func (c *Checker) target(d *document) (*target, error) {
	t := &target{makespan: d.Objective == sched.Makespan, equal: true}
	v := new(big.Rat).Set(d.value)
	if d.Objective == sched.MeanJCT {
		v.Mul(v, big.NewRat(int64(len(c.in.Jobs)), 1))
	}
	common := big.NewInt(1)
	for i := range c.in.Jobs {
		if d.Objective == sched.TotalJCT || d.Objective == sched.MeanJCT {
			v.Add(v, rational(c.in.Jobs[i].Release))
		}
		common = lcm(common, d.weight(&c.in.Jobs[i]).Denom())
	}
	if t.makespan {
		common.SetInt64(1)
	}
	most := roundUp(v.Mul(v, new(big.Rat).SetInt(common))).Num()
	most.Sub(most, big.NewInt(1)) // less than the value, and an integer
	if !most.IsInt64() || most.Int64() > math.MaxInt64/4 {
		return nil, tooHard("the value is too large")
	}
	t.most = most.Int64()
	for i := range c.in.Jobs {
		w := d.weight(&c.in.Jobs[i])
		scaled := new(big.Int).Quo(common, w.Denom())
		scaled.Mul(scaled, w.Num())
		if t.makespan {
			scaled.SetInt64(1)
		}
		// Whatever is within reach of the target ends in time; a bound may add the
		// longest time an instance may mention.
		if room := new(big.Int).Mul(scaled, integer(8*sched.MaxTime)); !room.IsInt64() || room.Int64() > math.MaxInt64/int64(4*len(c.in.Jobs)) {
			return nil, tooHard("the weights are too large")
		}
		t.weight = append(t.weight, scaled.Int64())
		t.equal = t.equal && t.weight[i] == t.weight[0]
	}
	return t, nil
}

// cost returns what jobs that end at the given time add to a cost.
func (t *target) with(cost int64, job int, end int64) int64 {
	if t.makespan {
		return max(cost, end)
	}
	return cost + t.weight[job]*end
}

// errCheaper is what a search that finds a schedule returns.
func (t *target) cheaper() error { return refuted("there is a schedule that costs less") }
