package errata

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// halves is a maximum weighted schedule algorithm for one job at a time: it
// takes the first job of the list that is left. Here that is at least half of what
// is possible each time.
type halves struct{ order []sched.JobID }

func (halves) Name() string { return "one job at a time" }

func (h halves) Solve(p primaldual.Problem) (*primaldual.Batch, error) {
	in := p.Model.In
	for _, id := range h.order {
		if slices.Contains(p.Jobs, id) {
			place := in.ElasticPlacement(kindOf(in, int(id)), 0, []int{1}, nil)
			return &primaldual.Batch{Runs: []primaldual.Run{{Job: id, End: 1, Place: place}}, Upper: big.NewRat(14, 1)}, nil
		}
	}
	return nil, errors.New("no job is left")
}

func offByOne() Erratum {
	return Erratum{
		Name: "off-by-one", Paper: primalDualPaper, Where: "Lemma 2, Eq. (6), Section 4.2",
		Claim:      "With a gamma-approximation, alpha = ⌊(log w(J) − log w_min)/(log gamma − log(gamma − 1))⌋ + 1 problems schedule at least the weight that is possible in one.",
		Finding:    "Jobs of weight 7, 7 and 5; the third takes all there is, the others fit beside each other, so that 14 are possible. gamma = 2: scheduling {7} and then {5} is within it each time. alpha = ⌊log2(19/5)⌋ + 1 = 2, and 12 < 14.",
		Correction: "⌈…⌉ + 1: after ⌈…⌉ problems at most w_min is missing, and one more schedules a job. The proof takes w ≤ (1 − 1/gamma)^(k−1)·w(J*) of the k-th problem's weight w, which need not be.",
		run: func(context.Context) (*Evidence, error) {
			in := market("off-by-one", 2, 2, []demand{{1, 1, 7}, {2, 2, 5}}, 2, 1)
			p := primaldual.Problem{Model: pricing.New(in), Jobs: []sched.JobID{0, 1, 2}, Horizon: 1}
			best, err := verify.Check(in, inSlots(in, []int64{0, 0, -1}))
			if err != nil {
				return nil, err
			}
			optimum := best.Cost(sched.ScheduledWeight)
			d := theorems.Rounds{Optimum: theorems.Interval{Lower: optimum, Upper: optimum}, Gamma: big.NewRat(2, 1),
				Total: big.NewRat(19, 1), Least: big.NewRat(5, 1), Approximates: true}
			weight := new(big.Rat)
			for alpha := 1; alpha <= 3; alpha++ {
				r, err := primaldual.Dual(halves{[]sched.JobID{0, 2, 1}}, p, primaldual.Literal, alpha)
				if err != nil {
					return nil, err
				}
				d.Weights = append(d.Weights, new(big.Rat).Sub(r.Weight, weight))
				weight = r.Weight
			}
			e := &Evidence{Instance: in, Better: best, Results: []theorems.Result{theorems.Covered(d, theorems.Printed), theorems.Covered(d, theorems.Sharp)},
				Expected: []Expectation{{theorems.PrimalDualLemma2, theorems.Printed, theorems.Violated}, {theorems.PrimalDualLemma2, theorems.Sharp, theorems.Holds}}}
			e.Facts = []Fact{
				{What: "weight of two problems", Got: e.Results[0].Right, Want: big.NewRat(12, 1)},
				{What: "weight that is possible in one", Got: optimum, Want: big.NewRat(14, 1)},
			}
			return e, nil
		},
	}
}

// Starved is an instance on which A_online is worse than Theorem 5 allows.
type Starved struct {
	In     *sched.Instance
	Slots  int64    // T
	Lambda *big.Rat // 2THRF + 1 with H = 1, R = 2 and F = 1
	Alpha  int      // of Theorem 5
	Better *verify.Verified
}

// NewStarved returns one server with ⌈log2 λ⌉ units of resource a, as many
// valuable jobs of a unit each, and baits of a unit each that are listed before
// them: six times alpha slots of these, alpha as in Theorem 5. All are done in a
// slot, and weigh what they take together. Baits take just enough of resource b to
// be worth what the last unit of a costs, valuable jobs the given amount. The
// better schedule is that of the valuable jobs first.
func NewStarved(slots, amount int64) (*Starved, error) {
	s := &Starved{Slots: slots, Lambda: big.NewRat(4*slots+1, 1)}
	units := int64(new(big.Int).Sub(s.Lambda.Num(), big.NewInt(1)).BitLen()) // ⌈log2 λ⌉
	bait := int64(math.Ceil(math.Pow(float64(4*slots+1), float64(units-1)/float64(units))))
	baits := int64(0)
	for range 100 { // alpha depends on the number of baits, and they on it
		total := new(big.Rat).Add(big.NewRat(baits*(1+bait), 1), big.NewRat(units*(1+amount), 1))
		low, high := theorems.PaperAlpha(s.Lambda, total, big.NewRat(1+bait, 1))
		if low != high {
			return nil, errors.New("alpha is not known")
		}
		if s.Alpha = low; baits == 6*units*int64(low) {
			break
		}
		baits = 6 * units * int64(low)
	}
	kinds := []demand{{1, bait, float64(1 + bait)}, {1, amount, float64(1 + amount)}}
	s.In = market("starved", units, units*amount, kinds, int(baits), int(units))
	s.In.Deadline = 0
	at := make([]int64, len(s.In.Jobs))
	for i := range baits {
		at[i] = 1 + i/units
	}
	var err error
	s.Better, err = verify.Check(s.In, inSlots(s.In, at))
	return s, err
}

func starved() Erratum {
	return Erratum{
		Name: "starved", Paper: primalDualPaper, Where: "Theorem 5, Section 5.3",
		Claim:      "A_online is 4·alpha-competitive, with alpha as in Lemma 2 for gamma = 2·log λ, under the assumptions of Theorem 3.",
		Finding:    "Baits that use up one resource for little weight are listed before jobs that are worth almost 10^7 times as much: in every problem they are scheduled first. One server, two resources, T = 3,700, λ = 14,801, alpha = 509, 42,756 baits: the ratio is 2,380 and more, where 4·alpha = 2,036.",
		Correction: "With the assumptions that Theorem 3 needs, and alpha one larger, the theorem holds. Counting how many problems each round needed gives a bound for one run that needs neither.",
		run: func(ctx context.Context) (*Evidence, error) {
			s, err := NewStarved(starvedSlots, starvedAmount)
			if err != nil {
				return nil, err
			}
			return s.evidence(ctx)
		},
	}
}

const (
	starvedSlots  = 3700
	starvedAmount = 70_000_000_000
)

// evidence runs A_online as printed.
func (s *Starved) evidence(ctx context.Context) (*Evidence, error) {
	if err := s.In.Validate(); err != nil {
		return nil, err
	}
	e := &Evidence{Instance: s.In, Better: s.Better}
	o := primaldual.Options{Form: primaldual.Literal, Alpha: s.Alpha, MaxWeight: primaldual.Greedy{Order: primaldual.ByRelease, Slots: s.Slots}}
	var policy *primaldual.Policy
	var err error
	if e.Schedule, policy, err = runOnline(ctx, s.In, o); err != nil {
		return nil, err
	}
	if end := e.Schedule.Cost(sched.Makespan); end.Cmp(big.NewRat(s.Slots*int64(s.In.Slot), 1)) > 0 {
		return nil, errors.New("the schedule is longer than T")
	}
	run := onlineRun(e.Schedule, policy, s.Lambda, theorems.Interval{Upper: s.Better.Cost(sched.WeightedCompletion)})
	run.WeightsInRange, run.SmallDemands, run.Prohibitive = assumptions(s.In, s.Lambda)
	e.Results = []theorems.Result{theorems.PrintedTheorem5(run), theorems.Competitive(run)}
	e.Expected = []Expectation{{theorems.PrimalDualTheorem5, theorems.Printed, theorems.Violated}}
	ratio := new(big.Rat).Quo(run.Cost, run.Optimum.Upper)
	e.Facts = []Fact{
		{What: "alpha", Got: big.NewRat(int64(s.Alpha), 1), Want: big.NewRat(509, 1)},
		{What: "jobs", Got: big.NewRat(int64(len(s.In.Jobs)), 1), Want: big.NewRat(42_770, 1)},
		{What: "ratio, rounded down", Got: new(big.Rat).SetInt(new(big.Int).Quo(ratio.Num(), ratio.Denom())), Want: big.NewRat(2380, 1)},
	}
	return e, nil
}
