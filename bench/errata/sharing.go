package errata

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

const sharingPaper = "SJF-BSBF"

// Joining returns an instance of the sharing model on one GPU: a job B that still
// needs the time running when a job A arrives, one second later, that needs the time
// arriving alone. While both train they are slower by their factors.
func Joining(arriving, running sched.Time, xiNew, xiRunning float64) *sched.Instance {
	in := &sched.Instance{Name: "joining", Model: sched.ModelSharing, Cluster: sched.Uniform(1, 1, 1e9, 1e9),
		Interference: [][]float64{{1, xiNew}, {xiRunning, 1}}}
	in.Cluster.Servers[0].GPUMemory = 2
	for task, needs := range []sched.Time{arriving, sched.Second + running} {
		j := flat(sched.Second*sched.Time(1-task), 1, needs)
		j.Sharing = &sched.Sharing{Task: task, Accumulation: []sched.Accumulation{{Steps: 1, Iter: sched.Duration(needs) * 1000, Memory: 1}}}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// joinAt returns the verified schedule in which A starts at the given time.
func joinAt(in *sched.Instance, at, endA, endB sched.Time) (*verify.Verified, error) {
	place := sched.Placement{Shares: []sched.Share{{GPUs: 1, Devices: []int{0}}}, Config: &sched.Config{Accumulation: 1}}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S}, Segments: []sched.Segment{
		{Job: 0, Start: at, End: endA, Place: place}, {Job: 1, End: endB, Place: place}}}
	s.Sort()
	return verify.Check(in, s)
}

// joined runs SJF-BSBF with a condition.
func joined(ctx context.Context, in *sched.Instance, c sharing.Condition) (*verify.Verified, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	r, err := sim.Run(ctx, in, sharing.BSBF(in.Interference, sharing.Options{Condition: c}), sim.Options{})
	if err != nil {
		return nil, err
	}
	return verify.Check(in, r.Schedule)
}

// afterArrival returns T_A + T_B, counted from the arrival of A.
func afterArrival(v *verify.Verified) *big.Rat {
	return new(big.Rat).Sub(v.Cost(sched.TotalCompletion), big.NewRat(2*int64(sched.Second), 1))
}

// compareConditions runs both conditions on a pair and evaluates the theorem.
func compareConditions(ctx context.Context, arriving, running sched.Time, xiNew, xiRunning float64, printed, corrected int64) (*Evidence, error) {
	in := Joining(arriving, running, xiNew, xiRunning)
	e := &Evidence{Instance: in}
	var err error
	if e.Schedule, err = joined(ctx, in, sharing.Printed); err != nil {
		return nil, err
	}
	if e.Better, err = joined(ctx, in, sharing.Corrected); err != nil {
		return nil, err
	}
	second := int64(sched.Second)
	e.Facts = []Fact{
		{"T_A + T_B with the printed condition", "µs", afterArrival(e.Schedule), big.NewRat(printed*second, 1)},
		{"T_A + T_B with the corrected one", "µs", afterArrival(e.Better), big.NewRat(corrected*second, 1)},
	}
	p := theorems.Pair{New: microseconds(arriving), Running: microseconds(running),
		XiNew: new(big.Rat).SetFloat64(xiNew), XiRunning: new(big.Rat).SetFloat64(xiRunning)}
	for _, form := range []string{theorems.Printed, theorems.Swapped, theorems.Sharp} {
		e.Results = append(e.Results, p.Theorem1(form))
	}
	e.Expected = []Expectation{{theorems.PairTheorem1, theorems.Printed, theorems.Violated}, {theorems.PairTheorem1, theorems.Sharp, theorems.Holds}}
	return e, nil
}

func microseconds(t sched.Time) *big.Rat { return big.NewRat(int64(t), 1) }

func shortJob() Erratum {
	return Erratum{
		Name: "short-job", Paper: sharingPaper, Where: "Theorem 1, Eq. (25)",
		Claim:      "If 2 xi_B + xi_A > 2 xi_A xi_B the new job A should start at once, and otherwise when the running job B is done.",
		Finding:    "A needs 1 s alone, B 10 s more, both factors are 5/2. The condition says to wait: T_A + T_B = 21 s. Sharing gives 14 s. The condition with its letters exchanged, 2 xi_A + xi_B > 2 xi_A xi_B, waits too.",
		Correction: "Start at once iff 2 xi_A + xi_B ≥ 2 xi_A xi_B or a·(2 xi_A − xi_A/xi_B − 1) ≤ b: for given factors, iff A is short enough beside what B has to go.",
		run: func(ctx context.Context) (*Evidence, error) {
			e, err := compareConditions(ctx, sched.Second, 10*sched.Second, 2.5, 2.5, 21, 14)
			if err == nil {
				e.Expected = append(e.Expected, Expectation{theorems.PairTheorem1, theorems.Swapped, theorems.Violated})
			}
			return e, err
		},
	}
}

func longJob() Erratum {
	return Erratum{
		Name: "long-job", Paper: sharingPaper, Where: "Theorem 1, Eq. (25)",
		Claim:      "If 2 xi_B + xi_A > 2 xi_A xi_B the new job A should start at once.",
		Finding:    "A needs 30 s alone, B 3 s more, xi_A = 9/8 and xi_B = 3. The condition holds, and starting at once gives T_A + T_B = 40 s; waiting gives 36 s.",
		Correction: "As for \"short-job\". Where B is done first the condition is 2 xi_A + xi_B ≥ 2 xi_A xi_B.",
		run: func(ctx context.Context) (*Evidence, error) {
			return compareConditions(ctx, 30*sched.Second, 3*sched.Second, 9.0/8, 3, 40, 36)
		},
	}
}

// fallingSum: A needs a = 10 s and B b = 10 s, both factors 5/2, A starts at k: B is
// done first, at k + 5/2·(10 − k), and A 10 − (10 − k) s after it.
func fallingSum() Erratum {
	return Erratum{
		Name: "falling-sum", Paper: sharingPaper, Where: "proof of Theorem 1, Eqs. (18) to (25)",
		Claim:      "If the condition does not hold, the average is a monotonically increasing function of kappa, and least at kappa = t_A i_A, where the jobs run one after the other.",
		Finding:    "Both jobs need 10 s, the factors are 5/2: the sums at kappa = 0, 5 and 10 s are 50, 40 and 30 s: it falls. With A of 1 s, kappa = t_A i_A = 1 s is not one after the other: B has 9 s to go, and the sum is 15 s; one after the other it is 21 s.",
		Correction: "In kappa the sum rises with slope 1 as long as A is done first, and is linear from there on; its minimum is at 0 or at kappa = b, the end of B.",
		run: func(context.Context) (*Evidence, error) {
			e := &Evidence{Instance: Joining(10*sched.Second, 10*sched.Second, 2.5, 2.5)}
			for i, x := range []struct{ k, endA, endB, sum sched.Time }{{0, 25, 25, 50}, {5, 22_500, 17_500, 40}, {10, 20, 10, 30}} {
				a, b := x.endA, x.endB
				if i != 1 { // written in seconds
					a, b = 1000*a, 1000*b
				}
				v, err := joinAt(e.Instance, sched.Second+x.k*sched.Second, sched.Second+a*1000, sched.Second+b*1000)
				if err != nil {
					return nil, err
				}
				e.Schedule, e.Better = v, v
				e.Facts = append(e.Facts, Fact{fmt.Sprintf("T_A + T_B if A starts %d s after its arrival", x.k), "µs", afterArrival(v), microseconds(x.sum * sched.Second)})
			}
			short := Joining(sched.Second, 10*sched.Second, 2.5, 2.5)
			v, err := joinAt(short, 2*sched.Second, 4_500_000, 12_500_000)
			if err != nil {
				return nil, err
			}
			e.Facts = append(e.Facts, Fact{"T_A + T_B for A of 1 s that starts after t_A i_A", "µs", afterArrival(v), microseconds(15 * sched.Second)})
			return e, nil
		},
	}
}

// slowedAlone: Eq. (22) is kappa + t^_A·(i_A − kappa/t^_A) = t^_A i_A, whatever kappa.
func slowedAlone() Erratum {
	return Erratum{
		Name: "slowed-alone", Paper: sharingPaper, Where: "proof of Theorem 1, Eq. (22)",
		Claim:      "A job A that runs alone until kappa and then beside another completes at T_A = kappa + t^_A·(i_A − kappa/t^_A).",
		Finding:    "That is t^_A i_A whatever kappa is: a job of 10 s with the factor 2, which the other joins when it is done, is said to take 20 s. It takes 10 s.",
		Correction: "Until kappa it makes kappa/t_A iterations: T_A = kappa + t^_A·(i_A − kappa/t_A). In Theorem 1's own words A is the new job and B the one that runs; the proof has it the other way round.",
		run: func(context.Context) (*Evidence, error) {
			in := Joining(5*sched.Second, 9*sched.Second, 2, 2)
			v, err := joinAt(in, 10*sched.Second, 15*sched.Second, 10*sched.Second)
			if err != nil {
				return nil, err
			}
			needs, factor := microseconds(10*sched.Second), big.NewRat(2, 1)
			kappa := needs
			rest := new(big.Rat).Sub(new(big.Rat).Mul(factor, needs), kappa) // t^_A i_A − kappa
			end, _ := v.Completion(1)
			return &Evidence{Instance: in, Schedule: v, Facts: []Fact{
				{"T_A by Eq. (22)", "µs", rest.Add(rest, kappa), microseconds(20 * sched.Second)},
				{"when the job is done", "µs", microseconds(end), microseconds(10 * sched.Second)},
			}}, nil
		},
	}
}
