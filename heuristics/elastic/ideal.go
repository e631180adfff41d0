package elastic

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"yardstick/sched"
)

// share is the fraction of the cluster's capacity of one resource that
// something takes: num/den.
type share struct{ num, den uint64 }

func (a share) compare(b share) int {
	ahi, alo := bits.Mul64(a.num, b.den)
	bhi, blo := bits.Mul64(b.num, a.den)
	return cmp.Or(cmp.Compare(ahi, bhi), cmp.Compare(alo, blo))
}

// dominant returns the dominant share of a placement: of all resources, the
// largest fraction of what the cluster has.
//
// Source: dominant resource fairness, which the primal-dual paper compares with
// in Section 7.
func (p *Packer) dominant(place *sched.Placement) share {
	most := share{0, 1}
	for r := range p.in.Elastic.Resources {
		now := share{}
		for h := range p.in.Cluster.Servers {
			now.den += uint64(p.in.Cluster.Servers[h].Capacity[r])
		}
		for i := range place.Shares {
			now.num += uint64(p.in.ElasticDemand(place, i, r))
		}
		if now.num > 0 && now.compare(most) > 0 {
			most = now
		}
	}
	return most
}

// empty returns what is free in the empty cluster, for reading.
func (p *Packer) empty() [][]int64 {
	var free [][]int64
	for h := range p.in.Cluster.Servers {
		free = append(free, p.in.Cluster.Servers[h].Capacity)
	}
	return free
}

// Choice is a number of containers of certain types, and what they are like in
// the empty cluster.
type Choice struct {
	sched.ElasticConfig
	Place sched.Placement // in the empty cluster
	share share           // of Place
}

// better reports whether a needs fewer slots, or as many and less of its
// dominant resource.
func (c *Choice) better(d *Choice) bool {
	return cmp.Or(cmp.Compare(c.Slots, d.Slots), c.share.compare(d.share)) < 0
}

// Ideal returns a job's ideal configuration, and false if the job fits
// nowhere: of those that run in the empty cluster, the one that needs the fewest
// slots; of equal ones that with the least dominant share, and then the first of
// Instance.ElasticConfigs.
//
// Source: "the ideal case (i.e., that leads to most expedited single-job
// training)", Sections 1 and 7 of the primal-dual paper. Not in the source: ties.
func (p *Packer) Ideal(id sched.JobID) (Choice, bool) {
	configs := p.in.ElasticConfigs(id)
	least := int64(math.MaxInt64)
	for i := range configs {
		least = min(least, configs[i].Slots)
	}
	return p.best(id, slices.DeleteFunc(configs, func(c sched.ElasticConfig) bool { return c.Slots > least }))
}

// Fixed returns the types with which the given number of workers need the
// fewest slots in the empty cluster, and of these the ones with the least dominant
// share. If so many workers fit with no types, it returns the largest number that
// does; and false if none does.
func (p *Packer) Fixed(id sched.JobID, workers int) (Choice, bool) {
	e := p.in.Jobs[id].Elastic
	for n := workers; n >= 1; n-- {
		var configs []sched.ElasticConfig
		for m := range e.Train {
			for k := range e.Update {
				if d, err := p.in.ElasticSlots(id, m, k, n, true); err == nil {
					configs = append(configs, sched.ElasticConfig{WorkerType: m, ServerType: k, Workers: n, Slots: d})
				}
			}
		}
		if best, ok := p.best(id, configs); ok {
			return best, true
		}
	}
	return Choice{}, false
}

// best returns the best of the configurations as they are placed in the empty
// cluster, where they need no fewer slots than they say.
func (p *Packer) best(id sched.JobID, configs []sched.ElasticConfig) (best Choice, ok bool) {
	slices.SortStableFunc(configs, func(a, b sched.ElasticConfig) int { return cmp.Compare(a.Slots, b.Slots) })
	empty := p.empty()
	ring := p.in.Jobs[id].Elastic.Ring
	for i := range configs {
		c := &configs[i]
		if ok && c.Slots > best.Slots {
			break
		}
		place, fits := p.Place(empty, ring, c.WorkerType, c.ServerType, c.Workers)
		if !fits {
			continue
		}
		read, err := p.in.ReadElastic(id, &place)
		if err != nil {
			continue // longer than MaxTime
		}
		now := Choice{read, place, p.dominant(&place)}
		if !ok || now.better(&best) {
			best, ok = now, true
		}
	}
	return best, ok
}
