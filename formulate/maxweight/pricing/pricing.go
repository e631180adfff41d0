// Package pricing finds the cheapest schedule of one elastic job when resources
// have prices: problem (12) of the primal-dual paper, for parameter servers and
// for rings, with any residual capacity. It replaces the paper's Algorithms 4
// to 7, the first of which is not exact, as Theorem 1 claims (package mincost).
//
// # What is minimised
//
// A unit of resource r on server h costs δ_h^r(t) ≥ 0 in slot t. A schedule of
// job j is a configuration (m, p, q, N, d) of [sched.Instance.ElasticConfigs], a
// start t, workers y_h with Σ y_h = N, one server n that hosts all parameter
// servers, and s = max(1, ⌈b_m(N − y_n)/B_p⌉) of these. It costs
//
//	Σ_h y_h A_h + s Z_n + c·(t + d),   A_h = Σ_{t',r} e_m^r δ_h^r(t'),  Z_h = Σ_{t',r} z_p^r δ_h^r(t')
//
// with sums over the d slots of its window; c is the price of completing a slot
// later. Nothing cheaper, and nothing that fits where these do not, is left out:
// dropping a worker, or the parameter servers of a second server, keeps every
// constraint and takes less.
//
// # How
//
// For each configuration and window: if one server hosts all, try each. Else,
// for each host n and number g of workers there, the rest goes to the other
// servers, the cheapest A_h first, each as full as it gets: a worker costs A_h
// on h however many there are, so that this is a fractional knapsack over whole
// workers. With F(k) the cost of the k cheapest places on all servers, the k
// cheapest places outside n cost F(k) if the places of n come later, and
// F(k + cap_n) − cap_n A_n otherwise. So a window takes
// O(H log H + N + Σ_n min(N, cap_n)) steps; most are never looked at, because
// N min_h A_h + min_h Z_h, which is known for all windows at once, exceeds the
// best cost found. Servers with equal capacities, prices and residuals are
// treated as one group.
//
// # Exact integers
//
// Prices are integers times a power of two, [Prices], small enough that
// Σ C δ fits an int64; so does then every cost, since no schedule takes more than
// there is. Nothing is rounded but the prices themselves, once and downwards. As
// weak duality holds for any prices, a bound evaluated by this package is a
// certificate: all that remains is to add up integers.
//
// A caller prices one job after the other with
//
//	model := pricing.New(in)                                // once
//	prices := pricing.Round(in, tau, delta, 0)              // floating point in, integers out
//	market := model.Market(prices, room)                    // room nil: the empty cluster
//	choice, ok := market.Cheapest(pricing.Query{Job: j, Latest: int64(tau)})
//	room.Take(&choice)                                      // then a new Market
//
// Source: sections 5.2 and 6.3 of the primal-dual paper, problems (12), (13),
// (20) and (21). Not in the source: everything under "How".
package pricing

import (
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// Model is an instance with the configurations that its jobs may choose.
type Model struct {
	In *sched.Instance
	// Configs has the configurations of each job: those of ElasticConfigs, or a
	// part or a relaxation of these.
	Configs [][]sched.ElasticConfig
}

// New returns the model of all undominated configurations.
func New(in *sched.Instance) *Model {
	m := &Model{In: in}
	for id := range in.Jobs {
		m.Configs = append(m.Configs, in.ElasticConfigs(sched.JobID(id)))
	}
	return m
}

// NoLimit is the Latest of a query without a deadline.
const NoLimit = math.MaxInt64

// Query asks for a schedule of one job.
type Query struct {
	Job sched.JobID
	// Earliest is the first slot to start in, or the job's FirstSlot if that is
	// later.
	Earliest int64
	// Latest is the slot to complete by: start + d ≤ Latest, Eq. (7b). Slots
	// after those of the prices are free and empty.
	Latest int64
	// TimeCost is c, in the unit of the prices. Not negative.
	TimeCost int64
	// Most is what the schedule may cost at most, which spares looking at dearer
	// ones; nil for any cost.
	Most *int64
	// Limits restrict the choice; nil for none.
	Limits *Limits
}

// Limits restrict the schedules of one job.
type Limits struct {
	Configs     []bool // by index of Model.Configs[job]; nil allows all
	First, Last int64  // starts allowed
	Ends        *Span  // completions t + d allowed; nil allows all
	Least, Most []int  // workers on each server; nil for any number
	Hosts       []bool // servers that may host the parameter servers; nil allows all
}

// Span is a range of slots.
type Span struct{ First, Last int64 }

// Choice is a schedule of one job.
type Choice struct {
	sched.ElasticConfig
	Config  int   // index of the configuration in Model.Configs[job]
	Start   int64 // first slot
	Workers []int // y_h
	Host    int   // server of all parameter servers; −1 in a ring
	Servers int   // how many they are
	Cost    int64 // in the unit of the prices; with the cost of time, see Query.TimeCost
}

// End returns t + d, the slot that the job completes before.
func (c *Choice) End() int64 { return c.Start + c.Slots }

// Placement returns where the containers are.
func (c *Choice) Placement(in *sched.Instance) sched.Placement {
	servers := make([]int, len(c.Workers))
	if c.Host >= 0 {
		servers[c.Host] = c.Servers
	}
	return in.ElasticPlacement(c.WorkerType, c.ServerType, c.Workers, servers)
}

// Segment returns the job's only segment.
func (c *Choice) Segment(in *sched.Instance, id sched.JobID) sched.Segment {
	return in.ElasticSegment(id, c.Start, c.Slots, c.Placement(in))
}

// demand returns f^r_jh(l), what the schedule takes of resource r on server h.
func (c *Choice) demand(in *sched.Instance, h, r int) int64 {
	f := int64(c.Workers[h]) * in.Elastic.Workers[c.WorkerType].Demand[r]
	if h == c.Host {
		f += int64(c.Servers) * in.Elastic.Servers[c.ServerType].Demand[r]
	}
	return f
}

// Use calls f for every server and resource of which the schedule takes a
// positive amount, in each of its slots.
func (c *Choice) Use(in *sched.Instance, f func(h, r int, amount int64)) {
	for h := range c.Workers {
		if c.Workers[h] == 0 && h != c.Host {
			continue
		}
		for r := range in.Elastic.Resources {
			if v := c.demand(in, h, r); v > 0 {
				f(h, r, v)
			}
		}
	}
}

// Cheapest returns a schedule of least cost, and of these one that completes
// first; false if there is none. The same market gives the same answer.
//
// The cost of time is capped at 2^61 units: beyond, the cost returned is a lower
// bound.
func (mk *Market) Cheapest(q Query) (Choice, bool) {
	if q.TimeCost < 0 {
		panic(fmt.Sprintf("pricing: the cost of time is %d", q.TimeCost))
	}
	if l := q.Limits; l != nil && (l.Least != nil || l.Most != nil || l.Hosts != nil) && mk.grouped {
		return mk.apartMarket().Cheapest(q)
	}
	s := search{mk: mk, q: &q, ring: mk.model.In.Jobs[q.Job].Elastic.Ring, limit: math.MaxInt64}
	if q.Most != nil {
		s.limit = *q.Most
	}
	s.run()
	if !s.found {
		return Choice{}, false
	}
	return s.build(), true
}

// search is a query under way.
type search struct {
	mk    *Market
	q     *Query
	ring  bool
	limit int64 // of the cost
	found bool
	best  pick
}

// pick is a window with a placement.
type pick struct {
	config int
	start  int64
	cost   int64
	end    int64
	host   int   // group
	beside int   // workers there
	rough  int64 // as that of its window
}

// run first tries the window that looks best, so that its cost spares most of
// the others, and then those that are left, the most promising first.
func (s *search) run() {
	list := s.mk.list[:0]
	first := 0 // the most promising
	s.windows(func(w prospect) {
		if w.bound > s.limit {
			return
		}
		if list = append(list, w); w.before(list[first]) {
			first = len(list) - 1
		}
	})
	s.mk.list = list
	if len(list) == 0 {
		return
	}
	s.try(list[first])
	list[first] = list[len(list)-1]
	list = slices.DeleteFunc(list[:len(list)-1], func(w prospect) bool { return !s.hopeful(w) })
	for i := len(list)/2 - 1; i >= 0; i-- {
		sift(list, i)
	}
	for len(list) > 0 && s.hopeful(list[0]) {
		s.try(list[0])
		list[0] = list[len(list)-1]
		list = list[:len(list)-1]
		sift(list, 0)
	}
}

// prospect is a window with a lower bound on its cost.
type prospect struct {
	config     int
	start, end int64
	bound      int64
	rough      int64 // the bound that all is on the cheapest servers: of equal choices the one with less is taken
}

func (p prospect) before(q prospect) bool {
	return p.bound < q.bound || p.bound == q.bound && (p.end < q.end || p.end == q.end && (p.rough < q.rough || p.rough == q.rough && p.config < q.config))
}

// sift restores the heap below its i-th entry.
func sift(heap []prospect, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1].before(heap[child]) {
			child++
		}
		if !heap[child].before(heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// hopeful reports whether a window may be better than the best.
func (s *search) hopeful(w prospect) bool {
	if !s.found {
		return w.bound <= s.limit
	}
	return w.bound < s.best.cost || w.bound == s.best.cost && s.best.after(w)
}

// after reports whether a window as dear would be taken in place of the pick.
func (p *pick) after(w prospect) bool {
	return w.end < p.end || w.end == p.end && (w.rough < p.rough || w.rough == p.rough && w.config < p.config)
}

// windows calls f for each window of the query.
func (s *search) windows(f func(prospect)) {
	mk, q := s.mk, s.q
	earliest := max(q.Earliest, mk.model.In.FirstSlot(q.Job))
	latest := int64(math.MaxInt64)
	if q.Limits != nil {
		earliest, latest = max(earliest, q.Limits.First), q.Limits.Last
	}
	configs := mk.model.Configs[q.Job]
	for i := range configs {
		c := &configs[i]
		if q.Limits != nil && q.Limits.Configs != nil && !q.Limits.Configs[i] {
			continue
		}
		from := earliest
		if q.Limits != nil && q.Limits.Ends != nil {
			from = max(from, q.Limits.Ends.First-c.Slots)
		}
		last := min(latest, max(from, mk.slots)) // after the last slot all windows are alike
		if q.Latest != NoLimit {
			last = min(last, q.Latest-c.Slots)
		}
		if q.Limits != nil && q.Limits.Ends != nil {
			last = min(last, q.Limits.Ends.Last-c.Slots)
		}
		if last < from {
			continue
		}
		workers := mk.workers[c.WorkerType].leasts(mk.groups, c.Slots)
		var servers floors
		if !s.ring {
			servers = mk.servers[c.ServerType].leasts(mk.groups, c.Slots)
		}
		n, holds := int64(c.Workers), mk.workers[c.WorkerType].most
		for t := from; t <= last; t++ {
			at := min(t, mk.slots)
			bound, ok := workers.sum(at, n, holds, mk.prices.total)
			if !ok { // such workers take more than there is
				continue
			}
			rest := q.time(t + c.Slots)
			if !s.ring {
				z := servers.first(at)
				if z > mk.prices.total {
					continue
				}
				rest += z
			}
			f(prospect{i, t, t + c.Slots, bound + rest, n*workers.first(at) + rest})
		}
	}
}

// maxTimeCost caps the cost of time, so that its sum with any other cost fits.
const maxTimeCost = 1 << 61

// time returns TimeCost·end, capped.
func (q *Query) time(end int64) int64 {
	if q.TimeCost > 0 && end > maxTimeCost/q.TimeCost {
		return maxTimeCost
	}
	return q.TimeCost * end
}

// try prices one window.
func (s *search) try(at prospect) {
	c := &s.mk.model.Configs[s.q.Job][at.config]
	w := s.mk.open(c, s.ring, at.start, s.q.Limits)
	late := s.q.time(at.end)
	most := s.limit
	if s.found {
		most = s.best.cost
	}
	most -= late // no cost of time is so large that this overflows
	servers := int64(0)
	if !s.ring {
		servers = s.mk.servers[c.ServerType].leasts(s.mk.groups, c.Slots).first(w.a)
	}
	cost, host, beside, ok := w.cheapest(most, servers)
	if !ok || cost > most {
		return
	}
	p := pick{config: at.config, start: at.start, cost: cost + late, end: at.end, host: host, beside: beside, rough: at.rough}
	if !s.found || p.cost < s.best.cost || p.cost == s.best.cost && s.best.after(at) {
		s.found, s.best = true, p
	}
}

// build states the best pick as a choice.
func (s *search) build() Choice {
	b := &s.best
	c := &s.mk.model.Configs[s.q.Job][b.config]
	w := s.mk.open(c, s.ring, b.start, s.q.Limits)
	out := Choice{ElasticConfig: *c, Config: b.config, Start: b.start, Cost: b.cost, Host: -1}
	out.Workers = w.place(b.host, b.beside)
	if !s.ring {
		out.Host = s.mk.groups[b.host][0]
		out.Servers = s.mk.model.In.ParameterServers(c.WorkerType, c.ServerType, c.Workers-b.beside)
	}
	return out
}
