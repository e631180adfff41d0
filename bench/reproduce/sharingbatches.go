package reproduce

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bench/suite"
	policies "yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// sharingBatch is what a policy came to on the windows of a draw.
type sharingBatch struct {
	JCT             float64 // mean, hours
	Joined, Smaller int     // jobs started beside others; those with less than the largest sub-batch that fits
}

// sharingBatches counts how often Algorithm 2 takes a smaller sub-batch than the largest
// that fits, where interference depends on it, and what that changes.
func sharingBatches(ctx context.Context, in Input) (*Output, error) {
	table := Table{Title: "240 jobs on 16×4 GPUs, interference by sub-batch, heavy-tailed (builtin:heavy-tailed); means over the windows",
		Columns: []string{"policy", "memory", "average JCT, h", "jobs beside others", "with a smaller sub-batch than fits", "share"}}
	out := &Output{}
	memories := []sched.Bytes{24e9, 11e9}
	making := &maker{Parts: in.Parts, total: 3 * len(memories)}
	for _, memory := range memories {
		jct := map[string]float64{}
		for _, name := range []string{"SJF", "SJF-FFS", "SJF-BSBF"} {
			b, err := part(ctx, making, fmt.Sprintf("%s, %v", name, memory), func() (sharingBatch, error) { return sharingBatchOf(ctx, in, name, memory) })
			if err != nil {
				return nil, err
			}
			jct[name] = b.JCT
			row := []string{name, memory.String(), number(b.JCT, 2), fmt.Sprint(b.Joined), absent, absent}
			if name == "SJF-BSBF" {
				row[4] = fmt.Sprint(b.Smaller)
				if b.Joined > 0 {
					row[5] = fmt.Sprintf("%.0f %%", 100*float64(b.Smaller)/float64(b.Joined))
				}
			}
			table.Rows = append(table.Rows, row)
		}
		for _, other := range []string{"SJF-FFS", "SJF"} {
			out.Orderings = append(out.Orderings, Ordering{Claim: fmt.Sprintf("GPUs of %v, average JCT: SJF-BSBF below %s", memory, other), Lower: jct["SJF-BSBF"], Upper: jct[other]})
		}
	}
	out.Tables = []Table{table}
	return out, nil
}

func sharingBatchOf(ctx context.Context, in Input, name string, memory sched.Bytes) (b sharingBatch, err error) {
	s, err := Suite("sjf-bsbf-240", in.Scale, in.Seed)
	if err != nil {
		return b, err
	}
	source := s.Instances[0]
	source.GPUMemory, source.Sharing = memory, suite.SharingRef{Rate: source.Sharing.Rate, Interference: "builtin:heavy-tailed"}
	windows, err := source.Build(s.Seed, &suite.Budget{Most: maxJobs})
	if err != nil {
		return b, err
	}
	for _, w := range windows {
		xi := w.Instance.Interference
		policy := map[string]func() sim.Policy{
			"SJF":      func() sim.Policy { return policies.SJF(false) },
			"SJF-FFS":  func() sim.Policy { return policies.FFS(xi, sim.Pool) },
			"SJF-BSBF": func() sim.Policy { return policies.BSBF(xi, policies.Options{}) },
		}[name]()
		r, err := sim.Run(ctx, w.Instance, policy, sim.Options{})
		if err != nil {
			return b, err
		}
		v, err := verify.Check(w.Instance, r.Schedule)
		if err != nil {
			return b, err
		}
		mean, _ := new(big.Rat).Quo(v.Cost(sched.MeanJCT), big.NewRat(3600*1e6, 1)).Float64()
		b.JCT += mean / float64(len(windows))
		if p, ok := policy.(*policies.Policy); ok {
			joined, smaller := p.Joined()
			b.Joined, b.Smaller = b.Joined+joined, b.Smaller+smaller
		}
	}
	return b, nil
}
