package errata

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/sched"
)

// aboutPairs evaluates Theorem 1 of the SJF-BSBF paper and its condition on every
// ordered pair of jobs whose memory fits a GPU together: one has just started when
// the other arrives. A row stands for all pairs that it applies to, and shows the one
// that is dearest compared with the best start.
func aboutPairs(_ context.Context, in *sched.Instance, _ Limits) ([]Statement, error) {
	var list []Statement
	for _, row := range []struct {
		statement, form, note string
		evaluate              func(*theorems.Pair) theorems.Result
	}{
		{theorems.PairTheorem1, theorems.Printed, "%d of %d pairs violate it", (*theorems.Pair).Theorem1},
		{theorems.PairCondition, theorems.Printed, "wrong for %d of %d pairs in Case 2", conditionOf(theorems.Printed)},
		{theorems.PairCondition, theorems.CompareSums, "wrong for %d of %d pairs", conditionOf(theorems.CompareSums)},
		{theorems.PairCondition, theorems.Case2Everywhere, "an ablation: wrong for %d of %d pairs, all outside Case 2", conditionOf(theorems.Case2Everywhere)},
	} {
		pairs, wrong := 0, 0
		var worst *theorems.Result
		for a := range in.Jobs {
			for b := range in.Jobs {
				p, ok := pairOf(in, a, b)
				if a == b || !ok {
					continue
				}
				r := row.evaluate(&p)
				r.Job = sched.JobID(a)
				if r.Verdict == theorems.NotApplicable {
					continue
				}
				pairs++
				if r.Verdict == theorems.Violated {
					wrong++
				}
				if worst == nil || r.Contradiction() && !worst.Contradiction() ||
					r.Contradiction() == worst.Contradiction() && r.Slack.Cmp(worst.Slack) < 0 {
					worst = &r
				}
			}
		}
		if worst == nil {
			worst = &theorems.Result{Statement: row.statement, Form: row.form, Verdict: theorems.NotApplicable}
		}
		list = append(list, Statement{Paper: sharingPaper, Unit: "µs", Note: fmt.Sprintf(row.note, wrong, pairs), Result: *worst})
	}
	return list, nil
}

func conditionOf(form string) func(*theorems.Pair) theorems.Result {
	return func(p *theorems.Pair) theorems.Result { return p.Condition(form) }
}

// pairOf returns the pair of a new job a and a running job b, each with its
// fastest accumulation that fits a GPU beside the other's least memory; false if
// none fit together.
func pairOf(in *sched.Instance, a, b int) (theorems.Pair, bool) {
	room := sched.Bytes(0)
	for _, s := range in.Cluster.Servers {
		if s.GPUs > 0 {
			room = max(room, s.GPUMemory)
		}
	}
	x, y := in.Jobs[a].Sharing, in.Jobs[b].Sharing
	if x.Rows != nil || y.Rows != nil {
		return theorems.Pair{}, false // they have factors by accumulation
	}
	needA, okA := fastest(&in.Jobs[a], room-leastMemory(y))
	needB, okB := fastest(&in.Jobs[b], room-leastMemory(x))
	xi := func(a, b int) *big.Rat { return new(big.Rat).SetFloat64(in.Interference[a][b]) }
	return theorems.Pair{New: needA, Running: needB, XiNew: xi(x.Task, y.Task), XiRunning: xi(y.Task, x.Task)}, okA && okB
}

func leastMemory(s *sched.Sharing) sched.Bytes {
	least := s.Accumulation[0].Memory
	for _, a := range s.Accumulation {
		least = min(least, a.Memory)
	}
	return least
}

// fastest returns what a job needs alone, in microseconds, in so much memory.
func fastest(j *sched.Job, room sched.Bytes) (*big.Rat, bool) {
	var best *big.Rat
	for _, a := range j.Sharing.Accumulation {
		if a.Memory > room {
			continue
		}
		if t := new(big.Rat).Mul(big.NewRat(j.Iters, 1), big.NewRat(int64(a.Iter), 1000)); best == nil || t.Cmp(best) < 0 {
			best = t
		}
	}
	return best, best != nil
}
