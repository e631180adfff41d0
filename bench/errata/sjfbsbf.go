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

// Theorem 1 of the SJF-BSBF paper is true, with the letters of its proof: A runs and
// B is inserted at kappa, between 0 and t_A i_A. Its condition stands in Case 2,
// t^_A i_A < t^_B i_B, and is exact there.

const sharingPaper = "SJF-BSBF"

// Joining returns an instance of the sharing model on one GPU: a job that still
// needs the time running when another arrives, one second later, that needs the time
// arriving alone. While both train they are slower by their factors. The one that
// arrives is job 0.
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

// joiningPair is what theorems make of Joining.
func joiningPair(arriving, running sched.Time, xiNew, xiRunning float64) *theorems.Pair {
	return &theorems.Pair{New: microseconds(arriving), Running: microseconds(running),
		XiNew: new(big.Rat).SetFloat64(xiNew), XiRunning: new(big.Rat).SetFloat64(xiRunning)}
}

// insertAt returns the verified schedule in which the new job starts so long after
// its arrival. Completions are those of theorems.Pair, which the verifier accepts
// or not.
func insertAt(in *sched.Instance, p *theorems.Pair, kappa sched.Time) (*verify.Verified, error) {
	a, b := p.Completions(microseconds(kappa))
	if !a.IsInt() || !b.IsInt() {
		return nil, fmt.Errorf("completions %v and %v are not whole", a, b)
	}
	place := sched.Placement{Shares: []sched.Share{{GPUs: 1, Devices: []int{0}}}, Config: &sched.Config{Accumulation: 1}}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S}, Segments: []sched.Segment{
		{Job: 0, Start: sched.Second + kappa, End: sched.Second + sched.Time(a.Num().Int64()), Place: place},
		{Job: 1, End: sched.Second + sched.Time(b.Num().Int64()), Place: place}}}
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

// afterArrival returns T_A + T_B, counted from the arrival of the new job.
func afterArrival(v *verify.Verified) *big.Rat {
	return new(big.Rat).Sub(v.Cost(sched.TotalCompletion), big.NewRat(2*int64(sched.Second), 1))
}

func microseconds(t sched.Time) *big.Rat { return big.NewRat(int64(t), 1) }

// sums adds the fact that T_A + T_B is so many seconds if the new job is inserted
// so many seconds after its arrival.
func (e *Evidence) sums(p *theorems.Pair, kappa, want sched.Time) error {
	v, err := insertAt(e.Instance, p, kappa*sched.Second)
	if err != nil {
		return err
	}
	e.Schedule, e.Better = v, v
	e.Facts = append(e.Facts, Fact{fmt.Sprintf("T_A + T_B at kappa = %d s", kappa), "µs", afterArrival(v), microseconds(want * sched.Second)})
	return nil
}

// case2Clause is the scope of Eqs. (22) to (25).
const case2Clause = "Case 2, t^_A i_A < t^_B i_B: A, which runs, would be done first"

// slowedAlone: Eq. (22) is kappa + t^_A·(i_A − kappa/t^_A) = t^_A i_A, whatever kappa.
func slowedAlone() Erratum {
	return Erratum{
		Name: "slowed-alone",
		Passage: Passage{sharingPaper, "Section V-A, proof of Theorem 1, Case 2, Eqs. (22) and (23)",
			"Case 2: If t^_A i_A < t^_B i_B, then T_A = κ + t^_A × (i_A − κ/t^_A)"},
		Scope:      []string{case2Clause, "κ between 0 and t_A i_A", "factors of at least 1"},
		Finding:    "As printed that is t^_A i_A whatever κ is. A runs and needs 10 s, B 15 s, both factors are 2: if B is inserted after 5 s, A is said to be done at 20 s, and after 10 s, when A is done, at 20 s too. It is done at 15 and at 10 s.",
		Correction: "κ/t_A for κ/t^_A: alone A makes κ/t_A iterations by κ. So read, Eq. (25) follows, and is right as printed, as is the theorem.",
		run: func(context.Context) (*Evidence, error) {
			return insertedInto(10*sched.Second, 15*sched.Second, 2, 2, map[sched.Time]sched.Time{5: 15, 10: 10})
		},
	}
}

// insertedInto compares Eqs. (22) and (25) with schedules in which a job is
// inserted into a running one so many seconds after its arrival; done has when the
// running job is done, in seconds.
func insertedInto(running, inserted sched.Time, xiRunning, xiNew float64, done map[sched.Time]sched.Time) (*Evidence, error) {
	p := joiningPair(inserted, running, xiNew, xiRunning)
	e := &Evidence{Instance: Joining(inserted, running, xiNew, xiRunning)}
	slow := new(big.Rat).Mul(p.XiRunning, p.Running) // t^_A i_A
	within := true
	for _, kappa := range []sched.Time{5, 10} {
		v, err := insertAt(e.Instance, p, kappa*sched.Second)
		if err != nil {
			return nil, err
		}
		e.Schedule = v
		at := microseconds(kappa * sched.Second)
		within = within && at.Cmp(p.Running) <= 0
		printed := new(big.Rat).Sub(slow, at) // t^_A·(i_A − kappa/t^_A)
		end, _ := v.Completion(1)
		e.Facts = append(e.Facts,
			Fact{fmt.Sprintf("T_A by Eq. (22), kappa = %d s", kappa), "µs", printed.Add(printed, at), slow},
			Fact{"when A is done", "µs", microseconds(end - sched.Second), microseconds(done[kappa] * sched.Second)},
			Fact{"2·average by Eq. (25)", "µs", doubledEq25(p, at), afterArrival(v)})
	}
	e.Scope = []Clause{{case2Clause, p.InCase2()}, {"κ between 0 and t_A i_A", within}, {"factors of at least 1", p.Validate() == nil}}
	return e, nil
}

// doubledEq25 is T_A + T_B by Eq. (25) as printed, in whose letters A runs:
//
//	(2 xi_B + xi_A − 2 xi_A xi_B)/xi_B·kappa + (2 − 1/xi_B)·t^_A i_A + t_B i_B.
func doubledEq25(p *theorems.Pair, kappa *big.Rat) *big.Rat {
	xiA, xiB := p.XiRunning, p.XiNew
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	two := big.NewRat(2, 1)
	slope := new(big.Rat).Add(times(two, xiB), xiA)
	slope.Sub(slope, times(two, times(xiA, xiB)))
	v := times(slope.Quo(slope, xiB), kappa)
	rest := new(big.Rat).Sub(two, new(big.Rat).Inv(xiB))
	v.Add(v, times(rest, times(xiA, p.Running)))
	return v.Add(v, p.New)
}

func letters() Remark {
	return Remark{
		Name: "letters",
		Passage: Passage{sharingPaper, "Section V-A, before Theorem 1",
			"Assume that there is a new job A sharing the GPUs occupied by the existing job B"},
		Finding: "On a grid of 1,296 pairs, jobs of 1 to 6 s and six factors from 1 to 3, each at 13 times κ: one of κ = 0 and κ = t_A i_A is best in all. 608 pairs are in Case 2, whose condition picks the better one in all.",
		True:    "In the proof A is the job that runs and B the one that is inserted at κ, 0 ≤ κ ≤ t_A i_A. Only so does κ = t_A i_A run them one after the other, and is Eq. (23) a completion time. With these letters Theorem 1 is true.",
		run: func(context.Context) (*Evidence, error) {
			e := &Evidence{}
			factors := []*big.Rat{big.NewRat(1, 1), big.NewRat(5, 4), big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(5, 2), big.NewRat(3, 1)}
			var pairs, best, inCase, right int64
			for n := range int64(36) {
				for _, xiNew := range factors {
					for _, xiRunning := range factors {
						p := theorems.Pair{New: big.NewRat(1+n/6, 1), Running: big.NewRat(1+n%6, 1), XiNew: xiNew, XiRunning: xiRunning}
						pairs++
						ends := p.Theorem1()
						if endsAreBest(&p, ends.Left) {
							best++
						}
						condition := p.Condition(theorems.Printed)
						if condition.Met() {
							inCase++
							if condition.Left.Cmp(ends.Left) == 0 {
								right++
							}
						}
						e.Results = []theorems.Result{ends}
					}
				}
			}
			e.Facts = []Fact{
				{"pairs", "", big.NewRat(pairs, 1), big.NewRat(1296, 1)},
				{"pairs in which an end is best", "", big.NewRat(best, 1), big.NewRat(1296, 1)},
				{"pairs in Case 2", "", big.NewRat(inCase, 1), big.NewRat(608, 1)},
				{"pairs in Case 2 in which its condition is right", "", big.NewRat(right, 1), big.NewRat(inCase, 1)},
			}
			e.Expected = []Expectation{{theorems.PairTheorem1, theorems.Printed, theorems.Holds}}
			return e, nil
		},
	}
}

// endsAreBest compares the lesser sum of the two ends with those at 13 times.
func endsAreBest(p *theorems.Pair, least *big.Rat) bool {
	for i := range int64(13) {
		if p.Sum(new(big.Rat).Mul(p.Running, big.NewRat(i, 12))).Cmp(least) < 0 {
			return false
		}
	}
	return true
}

func caseOne() Remark {
	return Remark{
		Name: "case-1",
		Passage: Passage{sharingPaper, "Section V-A, proof of Theorem 1, Case 1, Eqs. (18) to (21)",
			"Case 1: If t^_A i_A ≥ t^_B i_B, then … T_B = t^_B i_B"},
		Finding: "A runs and needs 10 s, B 1 s, both factors are 5/2: T_A + T_B is 14, 23 and 21 s at κ = 0, 9 and 10 s. Eq. (21) gives 14.",
		True:    "These are the times for κ = 0, and no condition is printed for this case. With κ the sum rises with slope 1 as long as B is done first, and is linear from there on; so the theorem holds here too, and comparing the two sums decides.",
		run: func(context.Context) (*Evidence, error) {
			p := joiningPair(sched.Second, 10*sched.Second, 2.5, 2.5)
			e := &Evidence{Instance: Joining(sched.Second, 10*sched.Second, 2.5, 2.5)}
			for _, x := range []struct{ kappa, sum sched.Time }{{0, 14}, {9, 23}, {10, 21}} {
				if err := e.sums(p, x.kappa, x.sum); err != nil {
					return nil, err
				}
			}
			// Eq. (21), doubled: 2 t^_B i_B + t_A i_A − t^_B i_B/xi_A.
			slow := new(big.Rat).Mul(p.XiNew, p.New)
			v := new(big.Rat).Add(slow, slow)
			v.Add(v, p.Running).Sub(v, slow.Quo(slow, p.XiRunning))
			e.Facts = append(e.Facts, Fact{"2·average by Eq. (21)", "µs", v, microseconds(14 * sched.Second)})
			e.Results = []theorems.Result{p.Theorem1(), p.Condition(theorems.CompareSums)}
			e.Expected = []Expectation{{theorems.PairTheorem1, theorems.Printed, theorems.Holds}, {theorems.PairCondition, theorems.CompareSums, theorems.Holds}}
			return e, nil
		},
	}
}

func case2Everywhere() Remark {
	return Remark{
		Name: "case-2-everywhere",
		Passage: Passage{sharingPaper, "Section V-A, after Eq. (25), in Case 2; and after the proof",
			"If 2ξ_B + ξ_A − 2ξ_A ξ_B > 0 … one should start the new job immediately. … In practice, evaluating the conditions for the best solution is the same as directly comparing the fully overlapped time and the fully non-overlapped time in terms of time cost."},
		Finding: "A runs for 3 s more, B needs 30 s, ξ_A = 3 and ξ_B = 9/8, which is in Case 2: the condition waits, rightly, 36 s for 40. A runs for 10 s more, B needs 1 s, both factors 5/2, which is in Case 1: taken from its case the condition waits, 21 s in all, where sharing gives 14 s and comparing the sums shares.",
		True:    "The condition belongs to Case 2, and is exact there. For both cases the paper gives the rule in the sentence after the proof: compare the two sums. That is what `condition: corrected` does; `condition: case-2-everywhere` is an ablation.",
		run: func(ctx context.Context) (*Evidence, error) {
			inside, err := bothConditions(ctx, 30*sched.Second, 3*sched.Second, 9.0/8, 3, 36, 36)
			if err != nil {
				return nil, err
			}
			inside.Facts = append(inside.Facts, Fact{"T_A + T_B if they share at once", "µs",
				joiningPair(30*sched.Second, 3*sched.Second, 9.0/8, 3).Sum(new(big.Rat)), microseconds(40 * sched.Second)})
			outside, err := bothConditions(ctx, sched.Second, 10*sched.Second, 2.5, 2.5, 21, 14)
			if err != nil {
				return nil, err
			}
			inside.Expected = append(inside.Expected, Expectation{theorems.PairCondition, theorems.Printed, theorems.Holds},
				Expectation{theorems.PairCondition, theorems.Case2Everywhere, theorems.Holds})
			outside.Expected = append(outside.Expected, Expectation{theorems.PairCondition, theorems.Printed, theorems.NotApplicable},
				Expectation{theorems.PairCondition, theorems.Case2Everywhere, theorems.Violated})
			return join(inside, outside), nil
		},
	}
}

// bothConditions runs SJF-BSBF on a pair with the condition of Case 2 and with the
// comparison of sums, of which T_A + T_B in seconds are given.
func bothConditions(ctx context.Context, arriving, running sched.Time, xiNew, xiRunning float64, case2, compared int64) (*Evidence, error) {
	in := Joining(arriving, running, xiNew, xiRunning)
	e := &Evidence{Instance: in}
	var err error
	if e.Schedule, err = joined(ctx, in, sharing.Case2Everywhere); err != nil {
		return nil, err
	}
	if e.Better, err = joined(ctx, in, sharing.Corrected); err != nil {
		return nil, err
	}
	second := int64(sched.Second)
	e.Facts = []Fact{
		{"T_A + T_B with the condition of Case 2", "µs", afterArrival(e.Schedule), big.NewRat(case2*second, 1)},
		{"T_A + T_B by comparing the sums", "µs", afterArrival(e.Better), big.NewRat(compared*second, 1)},
	}
	p := joiningPair(arriving, running, xiNew, xiRunning)
	e.Results = []theorems.Result{p.Theorem1(), p.Condition(theorems.Printed), p.Condition(theorems.CompareSums), p.Condition(theorems.Case2Everywhere)}
	e.Expected = []Expectation{{theorems.PairTheorem1, theorems.Printed, theorems.Holds}, {theorems.PairCondition, theorems.CompareSums, theorems.Holds}}
	return e, nil
}

// fallingSum: A runs and needs 10 s, B 12 s, both factors 5/2: A is done first, at
// kappa + 5/2·(10 − kappa), and B 12 − (10 − kappa) s after it.
func fallingSum() Remark {
	return Remark{
		Name: "falling-sum",
		Passage: Passage{sharingPaper, "Section V-A, after Eq. (25), in Case 2",
			"Otherwise, it is an monotonically increasing function with respect to κ. The minimum value is achieved at κ = t_A i_A"},
		Finding: "A runs and needs 10 s, B 12 s, both factors are 5/2: the sums at κ = 0, 5 and 10 s are 52, 42 and 32 s.",
		True:    "Otherwise it does not increase. That its minimum is at κ = t_A i_A, as the next sentence says, is right.",
		run: func(context.Context) (*Evidence, error) {
			p := joiningPair(12*sched.Second, 10*sched.Second, 2.5, 2.5)
			e := &Evidence{Instance: Joining(12*sched.Second, 10*sched.Second, 2.5, 2.5)}
			for _, x := range []struct{ kappa, sum sched.Time }{{0, 52}, {5, 42}, {10, 32}} {
				if err := e.sums(p, x.kappa, x.sum); err != nil {
					return nil, err
				}
			}
			e.Results = []theorems.Result{p.Theorem1(), p.Condition(theorems.Printed)}
			e.Expected = []Expectation{{theorems.PairTheorem1, theorems.Printed, theorems.Holds}, {theorems.PairCondition, theorems.Printed, theorems.Holds}}
			return e, nil
		},
	}
}
