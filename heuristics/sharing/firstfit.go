package sharing

import (
	"fmt"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// FFS returns SJF-FFS: a job for which too few GPUs are free takes all of them,
// and of the GPUs with one job the first on which it fits beside that, with the
// fastest accumulation that fits beside all of these. It always shares. xi is
// the instance's interference table, by which nothing is decided.
//
// Source: the SJF-BSBF paper, Section VI-A.
func FFS(xi [][]float64, placement sim.Rule) *Policy {
	return &Policy{name: "sjf-ffs", xi: xi, match: firstFit{}, placement: placement}
}

type firstFit struct{}

func (firstFit) lack(_ *sim.View, b *board, c *class, _ *waiting) (int, error) {
	need := c.gang - b.free
	for i := range b.groups {
		if g := &b.groups[i]; c.options.within(g.room) >= 0 {
			need -= g.alone
		}
	}
	return need, nil
}

func (firstFit) choose(v *sim.View, b *board, c *class, w *waiting) ([]int32, int, bool, error) {
	gpus := make([]int32, 0, c.gang)
	room := b.memory
	if b.free > 0 {
		shares, _ := v.Cluster().Pick(sim.Pool, b.free)
		gpus = b.numbers(gpus, shares)
	}
	for g := range b.on {
		if len(gpus) == c.gang {
			return gpus, c.options.within(room), true, nil
		}
		if on := b.on[g]; on[0] != none && on[1] == none {
			if r := b.groups[b.jobs[on[0]].group].room; c.options.within(r) >= 0 {
				gpus, room = append(gpus, int32(g)), min(room, r)
			}
		}
	}
	if len(gpus) == c.gang {
		return gpus, c.options.within(room), true, nil
	}
	return nil, 0, false, fmt.Errorf("sharing: too few GPUs for job %d, which fits", sched.JobID(w.id))
}
