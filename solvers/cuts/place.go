package cuts

import (
	"fmt"
	"slices"

	"yardstick/sched"
)

// Place returns a placement of the job with parts[i] GPUs on servers[i] whose
// running time is the least that these parts allow: the Duration of their
// pattern. The servers are distinct, in any order; every part is positive.
//
// Errors: the parts do not make the gang or do not fit their servers;
// ErrTooLarge if the stages are too many for dynamic programming; ErrModel.
func Place(in *sched.Instance, id sched.JobID, servers, parts []int) (sched.Placement, error) {
	if err := checkModel(in, id); err != nil {
		return sched.Placement{}, err
	}
	shares, err := sharesOf(in, id, servers, parts)
	if err != nil {
		return sched.Placement{}, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	if len(in.Jobs[id].Stages) > 1 {
		if err := mapStages(in, id, shares); err != nil {
			return sched.Placement{}, err
		}
	}
	return sched.Placement{Shares: shares}, nil
}

// sharesOf checks the request and returns its shares by server, without
// stages.
func sharesOf(in *sched.Instance, id sched.JobID, servers, parts []int) ([]sched.Share, error) {
	if len(servers) != len(parts) {
		return nil, fmt.Errorf("%d servers for %d parts", len(servers), len(parts))
	}
	gang := in.Jobs[id].Gang()
	shares := make([]sched.Share, len(parts))
	total := 0
	for i, m := range servers {
		if m < 0 || m >= len(in.Cluster.Servers) || parts[i] < 1 || parts[i] > in.Cluster.Servers[m].GPUs {
			return nil, fmt.Errorf("a part of %d GPUs does not fit server %d", parts[i], m)
		}
		shares[i] = sched.Share{Server: m, GPUs: parts[i]}
		total += parts[i]
	}
	slices.SortFunc(shares, func(a, b sched.Share) int { return a.Server - b.Server })
	for i := 1; i < len(shares); i++ {
		if shares[i].Server == shares[i-1].Server {
			return nil, fmt.Errorf("server %d is listed twice", shares[i].Server)
		}
	}
	if total != gang {
		return nil, fmt.Errorf("parts %v hold %d GPUs of a gang of %d", parts, total, gang)
	}
	return shares, nil
}

// mapStages fills in the stages of every share: the dynamic program over
// servers, then its decisions read back from the last server to the first.
func mapStages(in *sched.Instance, id sched.JobID, shares []sched.Share) error {
	m, err := newMapper(in, id)
	if err != nil {
		return err
	}
	if m.states*(len(shares)+1) > 4*maxStates {
		return fmt.Errorf("cuts: job %d: %d states on each of %d servers: %w", id, m.states, len(shares), ErrTooLarge)
	}
	class := make([]int, len(shares))
	layers := []layer{m.first()}
	for i, sh := range shares {
		gpus := in.Cluster.Servers[sh.Server].GPUs
		class[i] = slices.IndexFunc(m.sizes, func(c sizeClass) bool { return c.gpus == gpus })
		l, err := m.next(layers[i], class[i], sh.GPUs)
		if err != nil {
			return err
		}
		layers = append(layers, l)
	}
	state := 0
	for i := len(shares) - 1; i >= 0; i-- {
		want := layers[i+1].rank[state]
		for _, c := range m.configsOf(class[i], shares[i].GPUs) {
			if from := state + c.delta; m.adds(&c, state) && max(layers[i].rank[from], c.rank) == want {
				shares[i].Stages = slices.Clone(c.counts)
				state = from
				break
			}
		}
	}
	return nil
}

// adds reports whether state r with the config's replicas put back exceeds no
// stage.
func (m *mapper) adds(c *config, r int) bool {
	for s, x := range c.counts {
		k := m.job.Stages[s].Replicas
		if x > 0 && r/m.radix[s]%(k+1)+x > k {
			return false
		}
	}
	return true
}
