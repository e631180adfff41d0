package errata

import (
	"context"
	"errors"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// alphaOf returns ⌊log(w(J)/w_min)/log(gamma/(gamma − 1))⌋ + 1 for gamma = 2 and so many
// jobs of weight 1: the least alpha with 2^alpha > jobs.
func alphaOf(jobs int64) (alpha int64) {
	for n := jobs; n > 0; n /= 2 {
		alpha++
	}
	return alpha
}

// overlappingWindows: five jobs that each take all there is, for one slot. Four are there at
// tau_1 = 1, where alpha is 3 and three of them are scheduled, one a problem; the
// other is there with the fifth at tau_2 = 2.
func overlappingWindows() Remark {
	return Remark{
		Name: "overlapping-windows",
		Passage: Passage{primalDualPaper, "Section 5.3, after Theorem 5",
			"we can set α to be ⌊(log w(J_i) − log w_min)/(log γ − log(γ − 1))⌋ + 1 in simulations"},
		Finding: "With line 8 of Algorithm 1 as printed, from ατ_i to ατ_(i+1), windows then overlap when alpha falls from one round to the next. gamma = 2 and five equal jobs of all resources: alpha is 3 for the four of the first round and 2 for the two of the second, the windows are slots 3 to 5 and 4 to 7, and two jobs meet in each of the slots 4 and 5.",
		True:    "It can, if a round begins no sooner than the one before ends: one alpha for all rounds, or the certified form.",
		run: func(context.Context) (*Evidence, error) {
			in := market("overlapping-windows", 1, 2, []demand{{a: 1, b: 2, weight: 1}}, 5)
			in.Jobs[4].Release = 2 * in.Slot
			in.Deadline = 100 * in.Slot
			if err := in.Validate(); err != nil {
				return nil, err
			}
			// What is left over has an order: jobs 0 to 2 in the first round, 3 and 4 in
			// the second, where a problem of two slots has room for both.
			rounds := func(first, second int64) *sched.Schedule {
				return inSlots(in, []int64{first, first + 1, first + 2, 2 * second, 2*second + 1})
			}
			one, two := alphaOf(4), alphaOf(2)
			_, err := verify.Check(in, rounds(one, two))
			var broken *verify.Error
			if !errors.As(err, &broken) {
				return nil, errors.New("the windows do not overlap")
			}
			e := &Evidence{Instance: in}
			if e.Better, err = verify.Check(in, rounds(one, one)); err != nil {
				return nil, err
			}
			e.Facts = []Fact{
				{"alpha of the first round", "", big.NewRat(one, 1), big.NewRat(3, 1)},
				{"alpha of the second round", "", big.NewRat(two, 1), big.NewRat(2, 1)},
				{"slots by which the second window begins too early", "", big.NewRat(2*one-2*two, 1), big.NewRat(2, 1)},
				{"makespan with one alpha", "µs", microseconds(e.Better.Makespan()), microseconds(8 * in.Slot)},
			}
			return e, nil
		},
	}
}

// foresight: λ = 16 makes gamma = 2·log2 λ = 8, and alpha = ⌊log(w(J)/w_min)/log(8/7)⌋ + 1.
func foresight() Remark {
	return Remark{
		Name: "foresight",
		Passage: Passage{primalDualPaper, "Theorem 5; Eq. (6)",
			"w(J) = Σ_{j∈J} w_j and w_min = min_{j∈J} w_j"},
		Finding: "When the first round begins depends on jobs that are yet to arrive. lambda = 16: with two jobs of weight 1 alpha is 6; if one of weight 62 arrives in the end, it is 32, and so is the first slot in which anything runs.",
		True:    "An online run needs w(J)/w_min, or a bound on it, in advance. The certified form finds its own alpha as it goes, and its ratio for the run is 4 times the largest.",
		run: func(context.Context) (*Evidence, error) {
			e := &Evidence{}
			for _, c := range []struct{ total, want int64 }{{2, 6}, {64, 32}} {
				low, high := theorems.PaperAlpha(big.NewRat(16, 1), big.NewRat(c.total, 1), big.NewRat(1, 1))
				if low != high {
					return nil, errors.New("alpha is not known")
				}
				e.Facts = append(e.Facts, Fact{"alpha with w(J) = " + big.NewRat(c.total, 1).RatString(), "", big.NewRat(int64(low), 1), big.NewRat(c.want, 1)})
			}
			return e, nil
		},
	}
}
