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
	kind, slotted := d.Class.Kind, d.Class.Slotted
	tick := int64(1)
	if slotted && kind != sched.N {
		tick = int64(c.in.Slot)
	}
	t, err := c.target(d, tick)
	if err != nil {
		return proof{}, err
	}
	switch {
	case d.Objective.Maximised() && !(kind == sched.E && slotted):
		return proof{}, tooHard("no search goes through class %v for %v", d.Class, d.Objective)
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
	return proof{d.Class, d.value, d.Objective.Maximised()}, err
}

// target is what a schedule has to beat: with integer weights, Σ w_j C_j in ticks,
// or max C_j, must be at most that; or the weight of the jobs that are not done by a
// deadline.
type target struct {
	most     int64
	weight   []int64
	makespan bool
	deadline int64 // in ticks, if the weight done by it counts, and else 0
	equal    bool  // all weights are one number
}

// target restates the value in those terms: weights are multiplied by their common
// denominator.
func (c *Checker) target(d *document, tick int64) (*target, error) {
	if tick == 0 {
		return nil, refuted("the instance has no slots")
	}
	t := &target{makespan: d.Objective == sched.Makespan, equal: true}
	v := new(big.Rat).Set(d.value)
	if d.Objective == sched.MeanJCT {
		v.Mul(v, big.NewRat(int64(len(c.in.Jobs)), 1))
	}
	common := big.NewInt(1)
	weight, all := make([]*big.Rat, len(c.in.Jobs)), new(big.Rat)
	for i := range c.in.Jobs {
		j := &c.in.Jobs[i]
		weight[i] = d.weight(j)
		if d.Objective == sched.ScheduledWeight {
			weight[i].SetFloat64(j.Weight)
		}
		if t.makespan {
			weight[i].SetInt64(1)
		}
		if d.Objective == sched.TotalJCT || d.Objective == sched.MeanJCT {
			v.Add(v, rational(j.Release))
		}
		all.Add(all, weight[i])
		common = lcm(common, weight[i].Denom())
	}
	if d.Objective == sched.ScheduledWeight { // more than the value: less is lost
		t.deadline = int64(c.in.Deadline) / tick
		v.Sub(all, v)
	} else {
		v.Quo(v, big.NewRat(tick, 1))
	}
	// less than the value, and an integer
	most := roundUp(v.Mul(v, new(big.Rat).SetInt(common))).Num()
	most.Sub(most, big.NewInt(1))
	const room = math.MaxInt64 / (4 * searchJobs)
	if most.CmpAbs(big.NewInt(room)) > 0 {
		return nil, tooHard("the value is too large")
	}
	t.most = most.Int64()
	for _, w := range weight {
		scaled := new(big.Int).Quo(common, w.Denom())
		if scaled.Mul(scaled, w.Num()); scaled.CmpAbs(big.NewInt(room)) > 0 {
			return nil, tooHard("the weights are too large")
		}
		t.weight = append(t.weight, scaled.Int64())
		t.equal = t.equal && scaled.Int64() == t.weight[0]
	}
	return t, nil
}

// memo holds the situations that were searched, by the least cost that they had.
type memo map[string]int64

// seen reports whether a situation was searched at no higher cost, and notes it.
func (m memo) seen(situation []byte, cost int64) bool {
	if before, ok := m[string(situation)]; ok && before <= cost {
		return true
	}
	m[string(situation)] = cost
	return false
}

// with returns the cost of some jobs and one more that ends at the given time. What
// is beyond the target is no more than one beyond it.
func (t *target) with(cost int64, job int, end int64) int64 {
	switch {
	case t.makespan:
		return max(cost, end)
	case t.deadline > 0:
		if end > t.deadline {
			return cost + t.weight[job]
		}
		return cost
	}
	return cost + t.product(t.weight[job], end)
}

// product returns weight·end, or one beyond the target if that is less.
func (t *target) product(weight, end int64) int64 {
	if end > max(t.most, 0)/weight {
		return max(t.most, 0) + 1
	}
	return weight * end
}

// cheaper is what a search says that finds a schedule.
func (t *target) cheaper() error { return refuted("there is a better schedule") }
