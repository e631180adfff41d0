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
	searchSlots = 1 << 15 // that searches go into one by one: each takes some KB of the stack
)

// exclusive reports whether the jobs are gangs on GPUs of their own.
func (c *Checker) exclusive() bool {
	return c.in.Model.Exclusive()
}

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
	case t.goal == lostWeight && !(kind == sched.E && slotted):
		return proof{}, tooHard("no search goes through class %v for %v", d.Class, d.Objective)
	case kind == sched.N && c.exclusive():
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

// goal is what a search minimises.
type goal uint8

const (
	weightedEnds goal = iota + 1 // Σ w_j C_j
	lastEnd                      // max C_j
	lostWeight                   // Σ w_j over the jobs that are not done by the deadline
)

// target is what a schedule has to beat: with integer weights, its goal in ticks must
// be at most that.
type target struct {
	goal     goal
	most     int64
	weight   []int64
	deadline int64 // in ticks, which may be 0; of lostWeight
	equal    bool  // all weights are one number
}

// goalOf returns the goal that an objective is restated as.
func (c *Checker) goalOf(objective sched.Objective) (goal, error) {
	if _, sum := sums[objective]; sum {
		return weightedEnds, nil
	}
	switch objective {
	case sched.Makespan:
		return lastEnd, nil
	case sched.ScheduledWeight:
		if c.in.Deadline == 0 {
			return 0, refuted("the instance has no deadline")
		}
		return lostWeight, nil
	}
	return 0, tooHard("no search is made for %v", objective)
}

// target restates the value in those terms: weights are multiplied by their common
// denominator.
func (c *Checker) target(d *document, tick int64) (*target, error) {
	if tick == 0 {
		return nil, refuted("the instance has no slots")
	}
	goal, err := c.goalOf(d.Objective)
	if err != nil {
		return nil, err
	}
	t := &target{goal: goal, equal: true}
	v := new(big.Rat).Set(d.value)
	if sums[d.Objective].mean {
		v.Mul(v, big.NewRat(int64(len(c.in.Jobs)), 1))
	}
	common := big.NewInt(1)
	weight, all := make([]*big.Rat, len(c.in.Jobs)), new(big.Rat)
	for i := range c.in.Jobs {
		j := &c.in.Jobs[i]
		weight[i] = d.weight(j)
		if goal == lostWeight {
			weight[i].SetFloat64(j.Weight)
		}
		if goal == lastEnd {
			weight[i].SetInt64(1)
		}
		if sums[d.Objective].fromReleases {
			v.Add(v, weighted(weight[i], j.Release))
		}
		all.Add(all, weight[i])
		common = lcm(common, weight[i].Denom())
	}
	if goal == lostWeight { // more than the value: less is lost
		// Jobs end with a tick, and k·tick ≤ deadline if and only if k ≤ ⌊deadline/tick⌋.
		// That is 0 if the deadline is within the first tick: no job is done by then.
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
	t.most = small(most)
	for _, w := range weight {
		scaled := new(big.Int).Quo(common, w.Denom())
		if scaled.Mul(scaled, w.Num()); scaled.CmpAbs(big.NewInt(room)) > 0 {
			return nil, tooHard("the weights are too large")
		}
		t.weight = append(t.weight, small(scaled))
		t.equal = t.equal && t.weight[len(t.weight)-1] == t.weight[0]
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
	switch t.goal {
	case lastEnd:
		return max(cost, end)
	case lostWeight:
		if end > t.deadline {
			return add(cost, t.weight[job])
		}
		return cost
	}
	return add(cost, t.product(t.weight[job], end))
}

// product returns weight·end, or one beyond the target if that is less.
func (t *target) product(weight, end int64) int64 {
	if end > max(t.most, 0)/weight {
		return add(max(t.most, 0), 1)
	}
	return mul(weight, end)
}

// cheaper is what a search says that finds a schedule.
func (t *target) cheaper() error { return refuted("there is a better schedule") }
