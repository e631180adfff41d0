package errata

import (
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/sched"
)

// aboutPairs evaluates Theorem 1 of the SJF-BSBF paper on every ordered pair of
// jobs whose memory fits a GPU together: one has just started when the other
// arrives. A row per form stands for all pairs, and shows the one that the form's
// condition costs most.
func aboutPairs(in *sched.Instance) ([]Statement, error) {
	var list []Statement
	for _, form := range []string{theorems.Printed, theorems.Swapped, theorems.Sharp} {
		pairs, wrong := 0, 0
		var worst *theorems.Result
		for a := range in.Jobs {
			for b := range in.Jobs {
				p, ok := pairOf(in, a, b)
				if a == b || !ok {
					continue
				}
				pairs++
				r := p.Theorem1(form)
				r.Job = sched.JobID(a)
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
			worst = &theorems.Result{Statement: theorems.PairTheorem1, Form: form, Verdict: theorems.NotApplicable}
		}
		list = append(list, Statement{Paper: sharingPaper, Unit: "µs", Note: fmt.Sprintf("wrong for %d of %d pairs", wrong, pairs), Result: *worst})
	}
	return list, nil
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
