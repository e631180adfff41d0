package partition

import (
	"fmt"
	"slices"

	"yardstick/sched"
)

// Place returns a placement of the job with parts[i] GPUs on servers[i] whose
// running time is the least that these parts allow: the Duration of their
// pattern. The servers are distinct, in any order; every part is positive.
//
// Errors: as for BestAlpha; sched.ErrNotApplicable also if the search for the best
// placement exceeds its limit.
func Place(in *sched.Instance, id sched.JobID, servers, parts []int) (sched.Placement, error) {
	b, err := BestAlpha(in, id, servers, parts, 0)
	if err != nil {
		return sched.Placement{}, err
	}
	if !b.Exact {
		return sched.Placement{}, fmt.Errorf("cuts: job %d: %w: more than %d visits of a search: too large to enumerate", id, sched.ErrNotApplicable, DefaultVisits)
	}
	return b.Placement, nil
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
