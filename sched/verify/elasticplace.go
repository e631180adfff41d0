package verify

import (
	"fmt"
	"slices"

	"yardstick/sched"
)

// elasticPlacement returns the rule that the placement of an elastic job breaks
// by itself, and how; or no rule. Numbers beyond what the instance bounds are
// compared by division, so that no product overflows: capacities and demands
// are at most 10^12, and workers at most 10^4.
func (c *checker) elasticPlacement(j *sched.Job, p *sched.Placement) (Rule, string) {
	m, k := types(p)
	switch {
	case p.Config != nil && p.Config.Accumulation != 0:
		return RuleConfig, fmt.Sprintf("chooses %+v, but an elastic job accumulates no gradients", *p.Config)
	case m < 0 || m >= len(j.Elastic.Train):
		return RuleConfig, fmt.Sprintf("has workers of type %d, of which there are %d", m, len(j.Elastic.Train))
	case k < 0 || k >= len(j.Elastic.Update):
		return RuleConfig, fmt.Sprintf("has parameter servers of type %d, of which there are %d", k, len(j.Elastic.Update))
	}
	last := -1
	for i := range p.Shares {
		sh := &p.Shares[i]
		if sh.Server <= last || sh.Server >= len(c.in.Cluster.Servers) {
			return RulePlacement, fmt.Sprintf("lists server %d after %d: indices must ascend and be below %d", sh.Server, last, len(c.in.Cluster.Servers))
		}
		last = sh.Server
		if len(sh.Stages) != 2 || sh.Stages[0] < 0 || sh.Stages[1] < 0 || sh.Stages[0] == 0 && sh.Stages[1] == 0 {
			return RulePlacement, fmt.Sprintf("puts %v on server %d: the numbers of workers and parameter servers, not both 0, are required", sh.Stages, sh.Server)
		}
		if sh.Devices != nil {
			return RuleDevice, fmt.Sprintf("names the devices %v of server %d, but containers are counted", sh.Devices, sh.Server)
		}
	}
	workers, rule, detail := c.elasticCounts(j, p)
	if rule != "" {
		return rule, detail
	}
	for i := range p.Shares {
		if rule, detail := c.elasticShare(j, p, &p.Shares[i], workers); rule != "" {
			return rule, detail
		}
	}
	return "", ""
}

// elasticCounts returns the number of workers after checking Eqs. (2e) and (2g)
// of the primal-dual paper.
func (c *checker) elasticCounts(j *sched.Job, p *sched.Placement) (workers int64, _ Rule, _ string) {
	most, servers := j.Elastic.MaxWorkers, false
	for i := range p.Shares {
		y, s := p.Shares[i].Stages[0], p.Shares[i].Stages[1]
		if y > most-int(workers) {
			return 0, RuleWorkers, fmt.Sprintf("has more than %d workers", most)
		}
		workers += int64(y)
		servers = servers || s > 0
	}
	switch {
	case workers == 0:
		return 0, RuleWorkers, "has no workers"
	case servers && j.Elastic.Ring:
		return 0, RuleParameterServers, "has parameter servers in a ring"
	case !servers && !j.Elastic.Ring:
		return 0, RuleParameterServers, "has no parameter servers"
	}
	return workers, "", ""
}

// elasticShare checks Eqs. (2h), for the job alone, and (2i) of the primal-dual
// paper on one server, and the number of GPUs stated.
func (c *checker) elasticShare(j *sched.Job, p *sched.Placement, sh *sched.Share, workers int64) (Rule, string) {
	e := c.in.Elastic
	m, k := types(p)
	y, s := int64(sh.Stages[0]), int64(sh.Stages[1])
	for r, has := range c.in.Cluster.Servers[sh.Server].Capacity {
		over := false
		if s > 0 {
			z := e.Servers[k].Demand[r]
			over = z > 0 && s > has/z
		}
		if over || demand(e, p, sh, r) > has {
			return RuleCapacity, fmt.Sprintf("takes more of the resource %s than the %d of server %d", e.Resources[r], has, sh.Server)
		}
	}
	gpus := int64(0)
	if r := slices.Index(e.Resources, "gpu"); r >= 0 {
		gpus = demand(e, p, sh, r)
	}
	if int64(sh.GPUs) != gpus {
		return RulePlacement, fmt.Sprintf("says it takes %d GPUs of server %d, but its containers take %d", sh.GPUs, sh.Server, gpus)
	}
	if s > 0 {
		sent, taken := e.Workers[m].Demand[e.Bandwidth]*(workers-y), s*e.Servers[k].Demand[e.Bandwidth]
		if sent > taken {
			return RuleBandwidth, fmt.Sprintf("has parameter servers on server %d that take %d of the %d that workers elsewhere send", sh.Server, taken, sent)
		}
	}
	return "", ""
}

// types returns the types of the workers and parameter servers.
func types(p *sched.Placement) (worker, server int) {
	if p.Config == nil {
		return 0, 0
	}
	return p.Config.WorkerType, p.Config.ServerType
}

// demand returns what a share takes of a resource.
func demand(e *sched.ElasticTypes, p *sched.Placement, sh *sched.Share, r int) int64 {
	m, k := types(p)
	f := int64(sh.Stages[0]) * e.Workers[m].Demand[r]
	if s := int64(sh.Stages[1]); s > 0 {
		f += s * e.Servers[k].Demand[r]
	}
	return f
}
