package errata

import (
	"context"
	"math/big"
	"slices"

	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/sched/verify"
)

const primalDualPaper = "primal-dual"

// demand is a kind of job on one server: what its containers take of the
// resources a and b, of the latter at least 2, its weight and how many slots it takes.
type demand struct {
	a, b   int64
	weight float64
	slots  int64 // 0 stands for 1
}

// market returns an instance of one server with the resources a and b, and jobs of one
// worker and one parameter server that are done in the slots of their kind. Each job has a worker type of
// its own kind; those of other kinds would need a million slots. The parameter server
// takes a unit of b, and the worker the rest. Jobs of one kind are listed together, in
// the order of the kinds, and all are released at 0.
func market(name string, a, b int64, kinds []demand, counts ...int) *sched.Instance {
	in := &sched.Instance{Name: name, Model: sched.ModelElastic, Slot: sched.Second, Deadline: sched.Second, Cluster: sched.Uniform(1, 1, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"a", "b"}, Bandwidth: 1, Servers: []sched.Container{{Demand: []int64{0, 1}}}}}
	in.Cluster.Servers[0].Capacity = []int64{a, b}
	for k, d := range kinds {
		in.Elastic.Workers = append(in.Elastic.Workers, sched.Container{Demand: []int64{d.a, d.b - 1}})
		e := &sched.Elastic{MaxWorkers: 1, Batches: max(d.slots, 1), Update: []sched.Duration{0}}
		for m := range kinds {
			e.Train = append(e.Train, sched.Duration(sched.Second)*1000)
			if m != k {
				e.Train[m] *= 1_000_000
			}
		}
		for range counts[k] {
			in.Jobs = append(in.Jobs, sched.Job{Weight: d.weight, Elastic: e})
		}
	}
	return in
}

// slotsOf returns how many slots a job of a market takes.
func slotsOf(in *sched.Instance, id int) int64 { return in.Jobs[id].Elastic.Batches }

// inSlots returns the schedule in which every job of a market starts in the given
// slot; jobs in slot −1 are left out.
func inSlots(in *sched.Instance, slots []int64) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{}}
	for id, t := range slots {
		if t >= 0 {
			s.Segments = append(s.Segments, in.ElasticSegment(sched.JobID(id), t, slotsOf(in, id), in.ElasticPlacement(kindOf(in, id), 0, []int{1}, []int{1})))
		}
	}
	s.Sort()
	return s
}

// kindOf returns the worker type of a job of a market.
func kindOf(in *sched.Instance, id int) int {
	best := 0
	for m, v := range in.Jobs[id].Elastic.Train {
		if v < in.Jobs[id].Elastic.Train[best] {
			best = m
		}
	}
	return best
}

// demandOf returns what the containers of a job of a market take of each resource.
func demandOf(in *sched.Instance, id int) []int64 {
	f := slices.Clone(in.Elastic.Workers[kindOf(in, id)].Demand)
	for r, z := range in.Elastic.Servers[0].Demand {
		f[r] += z
	}
	return f
}

// assumptions says which of the assumptions of Theorems 3 and 5 the jobs of a
// market meet, with F = 1 and prices λ^load − 1. Demands are small if they are
// with ⌈log2 λ⌉ for log2 λ.
func assumptions(in *sched.Instance, lambda *big.Rat) (inRange, small, prohibitive bool) {
	inRange, small, prohibitive = true, true, true
	whole := new(big.Int).Sub(number.CeilInt(lambda), big.NewInt(1))
	logarithm := int64(whole.BitLen())
	var before *sched.Elastic
	for id := range in.Jobs {
		if in.Jobs[id].Elastic == before {
			continue
		}
		before = in.Jobs[id].Elastic
		w := new(big.Rat).SetFloat64(in.Jobs[id].Weight)
		sum := int64(0) // per slot
		for r, f := range demandOf(in, id) {
			sum += f
			small = small && f <= in.Cluster.Servers[0].Capacity[r]/logarithm
			least := new(big.Rat).Mul(lambda, big.NewRat(f, 2))
			prohibitive = prohibitive && least.Cmp(w) > 0
		}
		inRange = inRange && w.Cmp(big.NewRat(sum*slotsOf(in, id), 1)) == 0
	}
	return inRange, small, prohibitive
}

// batchSlots is T in the runs of batch: with slots from 1 and t + d ≤ T, Eq. (7b), two
// slots are the fewest in which a job can be done, and it is done in the first of them.
const batchSlots = 2

// batch runs A_maxweight with the paper's prices on a market, in the order of the
// jobs, and evaluates Theorems 2 and 3. The weight of better bounds the optimum
// from below, and so does the certificate from above.
func batch(in *sched.Instance, better *sched.Schedule) (*Evidence, *primaldual.Outcome, error) {
	if err := in.Validate(); err != nil {
		return nil, nil, err
	}
	p := primaldual.Problem{Model: pricing.New(in), Horizon: in.DeadlineSlots()}
	for id := range in.Jobs {
		p.Jobs = append(p.Jobs, sched.JobID(id))
	}
	o := primaldual.Greedy{Order: primaldual.ByRelease, Slots: batchSlots}.Outcome(p)
	slots := make([]int64, len(in.Jobs))
	for i := range slots {
		slots[i] = -1
	}
	for _, x := range o.Runs {
		slots[x.Job] = x.Start
	}
	e := &Evidence{Instance: in}
	var err error
	if e.Schedule, err = verify.Check(in, inSlots(in, slots)); err != nil {
		return nil, nil, err
	}
	if e.Better, err = verify.Check(in, better); err != nil {
		return nil, nil, err
	}
	m := theorems.MaxWeight{Weight: e.Schedule.Cost(sched.ScheduledWeight), Load: new(big.Rat), Refused: len(o.Runs) < len(in.Jobs),
		Optimum: theorems.Interval{Lower: e.Better.Cost(sched.ScheduledWeight), Upper: primaldual.Certify(p, o.Prices(), 0).Value},
		Lambda:  new(big.Rat).SetFloat64(o.Tariff.Lambda)}
	m.WeightsInRange, m.SmallDemands, m.Prohibitive = assumptions(in, m.Lambda)
	for id := range in.Jobs {
		d := theorems.DualJob{Weight: new(big.Rat).SetFloat64(in.Jobs[id].Weight), Utility: o.Utility[id], Cost: new(big.Rat)}
		if d.Utility == nil {
			d.Utility = new(big.Rat)
		}
		for r, f := range demandOf(in, id) {
			price := new(big.Rat).SetFloat64(o.Delta[r])
			d.Cost.Add(d.Cost, price.Mul(price, big.NewRat(f, 1)))
		}
		m.Jobs = append(m.Jobs, d)
	}
	for r, c := range in.Cluster.Servers[0].Capacity {
		used := int64(0)
		for _, x := range o.Runs {
			used += demandOf(in, int(x.Job))[r]
		}
		if load := big.NewRat(used, c); load.Cmp(m.Load) > 0 {
			m.Load = load
		}
	}
	scope := batchScope()
	printed := big.NewRat(2*batchSlots*2+1, 1) // H = 1, R = 2, F = 1
	e.Scope = []Clause{{scope[0], m.WeightsInRange}, {scope[1], m.SmallDemands}, {scope[2], m.Lambda.Cmp(printed) == 0}, {scope[3], p.Horizon == batchSlots-1}}
	e.Results = append(theorems.Feasible(m), theorems.Approximation(m, theorems.Printed))
	return e, o, nil
}

// batchScope is what the paper assumes where it proves Theorems 2 and 3.
func batchScope() []string {
	return []string{"1 ≤ w/Σf ≤ F", "f/C ≤ 1/log λ", "prices as in Eq. (11), λ = 2THRF + 1", "t + d ≤ τ ≤ T with slots from 1, Eq. (7b)"}
}

// lacking returns by how much more weight the better schedule has.
func (e *Evidence) lacking() *big.Rat {
	return new(big.Rat).Quo(e.Better.Cost(sched.ScheduledWeight), e.Schedule.Cost(sched.ScheduledWeight))
}

// PrimalDualTheorems evaluates what is proven about A_online on one of its runs:
// Lemma 1, and Theorem 5 where the theorem's algorithm was run, that is the literal
// form with prices as printed. alpha and kept are as [primaldual.Policy.Alpha]
// returns them. lambda is that of Eq. (11) for the whole instance, and nil where
// Theorem 5 is not evaluated; opt is what is proven about the least total weighted
// completion time of class Es, in microseconds. The assumptions of Theorem 5 are
// taken not to be met.
func PrimalDualTheorems(v *verify.Verified, alpha int, kept bool, lambda *big.Rat, opt theorems.Interval) []theorems.Result {
	o := online(v, alpha, kept, lambda, opt)
	return append([]theorems.Result{theorems.Competitive(o), theorems.PrintedTheorem5(o)}, theorems.Complexity()...)
}

func onlineRun(v *verify.Verified, p *primaldual.Policy, lambda *big.Rat, opt theorems.Interval) theorems.OnlineRun {
	alpha, kept := p.Alpha()
	return online(v, alpha, kept, lambda, opt)
}

func online(v *verify.Verified, alpha int, kept bool, lambda *big.Rat, opt theorems.Interval) theorems.OnlineRun {
	o := theorems.OnlineRun{Cost: v.Cost(sched.WeightedCompletion), Optimum: opt, Alpha: alpha, Kept: kept, Lambda: lambda, Total: new(big.Rat)}
	for i := range v.Instance().Jobs {
		w := new(big.Rat).SetFloat64(v.Instance().Jobs[i].Weight)
		o.Total.Add(o.Total, w)
		if o.Least == nil || w.Cmp(o.Least) < 0 {
			o.Least = w
		}
	}
	return o
}

// runOnline replays a market under A_online.
func runOnline(ctx context.Context, in *sched.Instance, o primaldual.Options) (*verify.Verified, *primaldual.Policy, error) {
	p := primaldual.New(o)
	r, err := sim.Run(ctx, in, p, sim.Options{})
	if err != nil {
		return nil, nil, err
	}
	v, err := verify.Check(in, r.Schedule)
	return v, p, err
}
