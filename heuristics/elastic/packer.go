package elastic

import (
	"cmp"
	"math/bits"
	"slices"

	"yardstick/sched"
)

// unit is what all of one resource of one server costs.
const unit = 1 << 32

// Packer places the containers of one job on what is free. What a placement
// costs is the sum of the shares that it takes of the capacities of its servers,
// over servers and resources; a share is rounded down per unit of the resource to
// a multiple of 2^-32, so that costs are whole numbers.
type Packer struct {
	in     *sched.Instance
	prices [][]int64 // by server and resource: floor(2^32/capacity); 0 without capacity

	// Scratch of apart.
	worker, server []int64 // what one container costs on each server
	room           []int   // how many workers each server holds
	order          []int   // servers with room, cheapest first
	before         []int   // workers that the servers before it in order hold
	sums           []int64 // sums[x]: the cost of the x cheapest workers
}

// NewPacker returns a packer for the servers and container types of the
// instance.
func NewPacker(in *sched.Instance) *Packer {
	n := len(in.Cluster.Servers)
	p := &Packer{in: in, worker: make([]int64, n), server: make([]int64, n), room: make([]int, n), before: make([]int, n)}
	for h := range n {
		row := make([]int64, len(in.Elastic.Resources))
		for r, c := range in.Cluster.Servers[h].Capacity {
			if c > 0 {
				row[r] = unit / c
			}
		}
		p.prices = append(p.prices, row)
	}
	return p
}

// Place returns the placement of the given number of workers of a type, with
// parameter servers of the other type unless the job is a ring, on what is free by
// server and resource; less than nothing is nothing. If one server has room for all containers it is the one
// where they cost least; otherwise, on several servers, it is a cheapest one of
// all that keep Eqs. (2e), (2h) and (2i). Ties go to the lower servers. It returns
// false if there is none.
//
// Cost: O(H·(N·R + log H)).
//
// Source: the structure of the optimal solutions of problem (13) of the
// primal-dual paper, see package maxweight: one server hosts all parameter
// servers, and whatever number of workers is beside these, the others are where
// they are cheapest.
func (p *Packer) Place(free [][]int64, ring bool, workerType, serverType, workers int) (sched.Placement, bool) {
	place, _, ok := p.price(free, ring, workerType, serverType, workers)
	return place, ok
}

// price is Place with the cost.
func (p *Packer) price(free [][]int64, ring bool, m, k, n int) (sched.Placement, int64, bool) {
	y := make([]int, len(free))
	var s []int
	if !ring {
		s = make([]int, len(free))
	}
	p.load(free, ring, m, k, n)
	if h, cost := p.together(free, ring, m, k, n); h >= 0 {
		y[h] = n
		if !ring {
			s[h] = 1
		}
		return p.in.ElasticPlacement(m, k, y, s), cost, true
	}
	host, beside, count, cost := p.apart(free, ring, m, k, n)
	if cost < 0 {
		return sched.Placement{}, 0, false
	}
	left := n
	if !ring {
		y[host], s[host] = beside, count
		left -= beside
	}
	for _, h := range p.order {
		if ring || h != host {
			y[h] = min(left, p.room[h])
			left -= y[h]
		}
	}
	return p.in.ElasticPlacement(m, k, y, s), cost, true
}

// load computes what one container costs on each server and how many workers
// each has room for, n at most.
func (p *Packer) load(free [][]int64, ring bool, m, k, n int) {
	e := p.in.Elastic.Workers[m].Demand
	var z []int64
	if !ring {
		z = p.in.Elastic.Servers[k].Demand
	}
	p.order = p.order[:0]
	for h, has := range free {
		p.room[h], p.worker[h], p.server[h] = n, 0, 0
		for r, need := range e {
			if need > 0 {
				p.room[h] = int(min(int64(p.room[h]), max(0, has[r])/need))
			}
		}
		for r, need := range e {
			if p.room[h] > 0 { // otherwise the product may overflow
				p.worker[h] += need * p.prices[h][r]
			}
		}
		for r, need := range z {
			if need > max(0, has[r]) {
				p.server[h] = -1 // no room for any
				break
			}
			p.server[h] += need * p.prices[h][r]
		}
		if p.room[h] > 0 {
			p.order = append(p.order, h)
		}
	}
}

// together returns the cheapest server that has room for all containers, and
// the cost; −1 if none has.
func (p *Packer) together(free [][]int64, ring bool, m, k, n int) (best int, least int64) {
	best = -1
	for _, h := range p.order {
		if p.room[h] < n || !ring && (p.server[h] < 0 || !p.fits(free[h], m, k, n, 1)) {
			continue
		}
		cost := int64(n)*p.worker[h] + p.server[h]
		if best < 0 || cost < least {
			best, least = h, cost
		}
	}
	return best, least
}

// fits reports whether a server holds y workers and s parameter servers, of
// which it holds y workers alone.
func (p *Packer) fits(free []int64, m, k, y, s int) bool {
	e, z := p.in.Elastic.Workers[m].Demand, p.in.Elastic.Servers[k].Demand
	for r, has := range free {
		if hi, lo := bits.Mul64(uint64(s), uint64(z[r])); hi > 0 || lo > uint64(has-int64(y)*e[r]) {
			return false
		}
	}
	return true
}

// apart returns the cheapest way to use several servers: the one that hosts the
// parameter servers, how many workers are beside them, their number, and the
// cost, negative if there is none. In a ring only the cost means something.
func (p *Packer) apart(free [][]int64, ring bool, m, k, n int) (host, beside, count int, least int64) {
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(p.worker[a], p.worker[b]), cmp.Compare(a, b)) })
	p.sums = append(p.sums[:0], 0)
	for _, h := range p.order {
		p.before[h] = len(p.sums) - 1
		for range p.room[h] {
			if len(p.sums) > 2*n { // a server holds n at most: enough without any one
				break
			}
			p.sums = append(p.sums, p.sums[len(p.sums)-1]+p.worker[h])
		}
	}
	held := len(p.sums) - 1
	if ring {
		if held < n {
			return 0, 0, 0, -1
		}
		return 0, 0, 0, p.sums[n]
	}
	least = -1
	for h := range free {
		if p.server[h] < 0 {
			continue
		}
		for g := 0; g <= p.room[h]; g++ {
			cost, ok := p.others(h, n-g, held)
			if !ok {
				continue
			}
			s := p.in.ParameterServers(m, k, n-g)
			if !p.fits(free[h], m, k, g, s) {
				continue
			}
			cost += int64(g)*p.worker[h] + int64(s)*p.server[h]
			if least < 0 || cost < least {
				host, beside, count, least = h, g, s, cost
			}
		}
	}
	return host, beside, count, least
}

// others returns the cost of the given number of workers on servers other than
// h, or false if there is no room. Of the cheapest workers of all, those on h are
// left out.
func (p *Packer) others(h, workers, held int) (int64, bool) {
	first := held // of the workers on h among the cheapest
	if p.room[h] > 0 {
		first = min(p.before[h], held)
	}
	if workers <= first {
		return p.sums[workers], true
	}
	skipped := min(p.room[h], held-first)
	if workers+skipped > held {
		return 0, false
	}
	return p.sums[workers+skipped] - int64(skipped)*p.worker[h], true
}
