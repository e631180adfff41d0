package verify

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/sched"
)

// placement returns the rule that the placement of a job breaks by itself,
// without regard to other jobs, and how; or no rule.
func (c *checker) placement(j *sched.Job, p *sched.Placement) (Rule, string) {
	if c.elastic {
		return c.elasticPlacement(j, p)
	}
	last := -1
	for i := range p.Shares {
		sh := &p.Shares[i]
		if sh.Server <= last || sh.Server >= len(c.in.Cluster.Servers) {
			return RulePlacement, fmt.Sprintf("lists server %d after %d: indices must ascend and be below %d", sh.Server, last, len(c.in.Cluster.Servers))
		}
		last = sh.Server
		if rule, detail := c.share(j, sh); rule != "" {
			return rule, detail
		}
	}
	if c.malleable {
		return c.sized(j, p)
	}
	for s := range j.Stages {
		held := 0
		for i := range p.Shares {
			held += replicas(&p.Shares[i], s)
		}
		if held != j.Stages[s].Replicas {
			return RuleGang, fmt.Sprintf("holds %d replicas of stage %d, which has %d", held, s, j.Stages[s].Replicas)
		}
	}
	return c.config(j, p)
}

// share checks what a job holds on one server, which exists.
func (c *checker) share(j *sched.Job, sh *sched.Share) (Rule, string) {
	has := c.in.Cluster.Servers[sh.Server].GPUs
	if sh.GPUs < 1 || sh.GPUs > has {
		return RulePlacement, fmt.Sprintf("takes %d GPUs of server %d, which has %d", sh.GPUs, sh.Server, has)
	}
	if sh.Stages == nil && len(j.Stages) != 1 {
		return RulePlacement, fmt.Sprintf("does not say which of its %d stages run on server %d", len(j.Stages), sh.Server)
	}
	if sh.Stages == nil && width(j, 0) != 1 {
		return RulePlacement, fmt.Sprintf("does not say how many replicas of %d slices run on server %d", width(j, 0), sh.Server)
	}
	if sh.Stages != nil {
		if len(sh.Stages) != len(j.Stages) {
			return RulePlacement, fmt.Sprintf("puts %v on server %d, but has %d stages", sh.Stages, sh.Server, len(j.Stages))
		}
		sum := 0
		for s, x := range sh.Stages {
			if x < 0 || x > has {
				return RulePlacement, fmt.Sprintf("has %d replicas of a stage on server %d, which has %d GPUs", x, sh.Server, has)
			}
			sum += x * int(width(j, s))
		}
		if sum != sh.GPUs {
			return RulePlacement, fmt.Sprintf("puts %v on %d GPUs of server %d, where these replicas have %d", sh.Stages, sh.GPUs, sh.Server, sum)
		}
	}
	if sh.Devices == nil {
		if c.sharing {
			return RuleDevice, fmt.Sprintf("does not name its GPUs on server %d, which it may have to share", sh.Server)
		}
		return "", ""
	}
	last := -1
	for _, d := range sh.Devices {
		if d <= last || d >= has {
			return RuleDevice, fmt.Sprintf("names the devices %v of server %d: they must ascend and be below %d", sh.Devices, sh.Server, has)
		}
		last = d
	}
	if len(sh.Devices) != sh.GPUs {
		return RuleDevice, fmt.Sprintf("names %d devices for its %d GPUs on server %d", len(sh.Devices), sh.GPUs, sh.Server)
	}
	return "", ""
}

// config checks the choices besides the place. In exclusive classes of the
// sharing model it also checks the memory, since no one else needs any.
func (c *checker) config(j *sched.Job, p *sched.Placement) (Rule, string) {
	if cf := p.Config; cf != nil && (cf.WorkerType != 0 || cf.ServerType != 0 || cf.Accumulation != 0 && j.Sharing == nil) {
		return RuleConfig, fmt.Sprintf("chooses %+v, which its model leaves no choice in", *cf)
	}
	if j.Sharing == nil {
		return "", ""
	}
	option := accumulation(j, p)
	if option == nil {
		return RuleConfig, fmt.Sprintf("accumulates gradients in %d steps, which is not one of its options", p.Config.Accumulation)
	}
	if !c.sharing {
		for i := range p.Shares {
			if m := p.Shares[i].Server; option.Memory > c.in.Cluster.Servers[m].GPUMemory {
				return RuleMemory, fmt.Sprintf("needs %v on each GPU, but those of server %d have %v", option.Memory, m, c.in.Cluster.Servers[m].GPUMemory)
			}
		}
	}
	return "", ""
}

// accumulation returns the option that the placement chooses: the first if it
// chooses none. It returns nil if the job does not offer what is chosen.
func accumulation(j *sched.Job, p *sched.Placement) *sched.Accumulation {
	options := j.Sharing.Accumulation
	if p.Config == nil {
		return &options[0]
	}
	for i := range options {
		if options[i].Steps == p.Config.Accumulation {
			return &options[i]
		}
	}
	return nil
}

// steps returns the accumulation steps that a placement names, 0 if none.
func steps(p *sched.Placement) int {
	if p.Config == nil {
		return 0
	}
	return p.Config.Accumulation
}

// replicas returns x_s on the share, 0 for a stage that does not exist.
func replicas(sh *sched.Share, s int) int {
	switch {
	case s >= 0 && s < len(sh.Stages):
		return sh.Stages[s]
	case s == 0 && sh.Stages == nil:
		return sh.GPUs
	}
	return 0
}

// width returns t_s, the GPUs of one replica of stage s.
func width(j *sched.Job, s int) int64 {
	if t := j.Stages[s].Slices; t > 0 {
		return int64(t)
	}
	return 1
}

// same reports whether two sound placements of a job are the same.
func same(j *sched.Job, a, b *sched.Placement) bool {
	if j.Sharing != nil && steps(a) != steps(b) && accumulation(j, a) != accumulation(j, b) {
		return false
	}
	if j.Elastic != nil {
		am, ak := types(a)
		if bm, bk := types(b); am != bm || ak != bk {
			return false
		}
	}
	return slices.EqualFunc(a.Shares, b.Shares, func(x, y sched.Share) bool {
		stages := x.Stages == nil || y.Stages == nil || slices.Equal(x.Stages, y.Stages) // nil: one stage, all GPUs
		return x.Server == y.Server && x.GPUs == y.GPUs && stages && slices.Equal(x.Devices, y.Devices)
	})
}

// describe returns a placement as "server:GPUs …" for a message.
func describe(p *sched.Placement) string {
	parts := make([]string, len(p.Shares))
	for i, sh := range p.Shares {
		parts[i] = fmt.Sprintf("%d:%d", sh.Server, sh.GPUs)
		if sh.Stages != nil {
			parts[i] += fmt.Sprint(sh.Stages)
		}
		if sh.Devices != nil {
			parts[i] += fmt.Sprintf("@%v", sh.Devices)
		}
	}
	return strings.Join(parts, " ")
}
