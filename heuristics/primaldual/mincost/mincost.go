// Package mincost is the pricing of one job as the primal-dual paper has it:
// Algorithms 4 and 5 with parameter servers, 6 and 7 in a ring. It is here to be
// compared with: package pricing solves the same problems exactly and faster.
//
// Algorithms 5 and 6, where one server hosts all containers, are exact. Of
// Algorithms 4 and 7, where several do, a [Variant] says whether they are as
// printed.
//
// # Where Algorithm 4 is not optimal
//
// It goes through the servers from the cheapest on, fills each with as many
// workers as it holds, and on one, n, puts parameter servers too. As printed:
//
//   - N̂, the number of workers still to be placed, is set in line 6 and counted
//     down in line 23, but never set again for the next n or t⁻. So every
//     iteration after the first that succeeds places no workers, at no cost.
//   - Line 19 chooses no parameter server when all N workers are on n (g = N), and
//     line 25 then calls the placement infeasible.
//   - Of several feasible g it keeps the last, the greatest, in lines 15 to 21,
//     whatever that costs.
//
// [Reset] repairs the first and [AtLeastOne] the first two, both in the obvious
// way. Neither makes Theorem 1 true: servers cheaper than n are filled before it
// is known how many workers would best be beside the parameter servers, each of
// which saves b/B of these, and n itself is filled as far as it goes. Two servers
// of 2 and 3 units, N = 3, b = B = 1, containers of one unit at price 1: the
// optimum is y = (1, 2), s = (0, 1) at cost 4, the algorithm's y = (2, 1),
// s = (0, 2) at cost 5. With b = 2, N = 2 and prices (1, 2), y = (1, 1) and
// s = (0, 2) cost 7, or y = (0, 2) and s = (0, 1) cost 6 on one server, and the
// algorithm finds nothing.
//
// Algorithm 7 counts down N̂ from d̂_j, the number of slots (line 5), and never
// sets it again either; with Φ′ for every window it is exact: [Reset].
//
// Source: sections 5.2 and 6.3 of the primal-dual paper. Not in the source: slots
// count from 0, so that (7b) is t⁻ + L ≤ τ with all τ slots usable; no start is
// before the release.
package mincost

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/number"
	"yardstick/sched"
)

// Variant says what is repaired in Algorithms 4 and 7.
type Variant uint8

// The variants.
const (
	Printed    Variant = iota + 1 // as in the paper
	Reset                         // N̂ starts anew for every window and every n
	AtLeastOne                    // Reset, and at least one parameter server; Algorithm 7 is as with Reset
)

// Query is the input of the algorithms, which all have in common.
type Query struct {
	In     *sched.Instance
	Job    sched.JobID
	Tau    int64 // τ_i, at most the prices' number of slots
	Prices *pricing.Prices
	Room   *pricing.Room // nil for the empty cluster
}

// least returns how many of the workers asked for a schedule has at least.
func (v Variant) least(workers int) int {
	if v == Printed {
		return 0
	}
	return workers
}

// MinCost1 is Algorithm 4, A_mincost1: q_j = 0, workers and parameter servers on
// any servers. The result's Workers may add up to fewer than its configuration
// has, if as printed. It is false for a cost of +∞.
func MinCost1(q Query, v Variant) (pricing.Choice, bool) {
	s := newSearch(&q)
	e := q.In.Jobs[q.Job].Elastic
	for m := range e.Train {
		for p := range e.Update {
			from, to := s.slots(m, p, e.MaxWorkers), s.slots(m, p, 1)
			for l := from; l <= min(to, q.Tau); l++ {
				s.config = sched.ElasticConfig{WorkerType: m, ServerType: p, Workers: s.workers(m, p, l), Slots: l}
				left := s.config.Workers // N̂
				for s.start = s.first; s.start+l <= q.Tau; s.start++ {
					if !s.sort(v.least(s.config.Workers)) {
						continue
					}
					for n := range s.order {
						if v != Printed {
							left = s.config.Workers
						}
						s.host(n, &left, v)
					}
				}
			}
		}
	}
	return s.result()
}

// host is lines 10 to 32 of Algorithm 4: parameter servers on the n-th server.
func (s *search) host(n int, left *int, v Variant) {
	clear(s.y)
	servers := 0
	b, most := s.bandwidths()
	for k, h := range s.order {
		s.y[h] = min(s.holds(h), *left)
		if k == n {
			for g := range s.y[h] + 1 {
				room := s.holdsServers(h, g) // ŝ
				needed := int64(s.config.Workers-g) * b
				if room*most < needed || v == AtLeastOne && room < 1 {
					continue
				}
				s.y[h] = g
				servers = int(min(room, (needed+most-1)/most))
				if v == AtLeastOne {
					servers = max(servers, 1)
				}
			}
		}
		*left -= s.y[h]
	}
	if *left == 0 && servers >= 1 {
		s.offer(s.order[n], servers)
	}
}

// MinCost2 is Algorithm 5, A_mincost2: q_j = 1, all containers on one server.
func MinCost2(q Query) (pricing.Choice, bool) {
	s := newSearch(&q)
	e := q.In.Jobs[q.Job].Elastic
	s.config.OneServer = true // slots and workers depend on it
	for m := range e.Train {
		for p := range e.Update {
			from, to := s.slots(m, p, e.MaxWorkers), s.slots(m, p, 1)
			for l := from; l <= min(to, q.Tau); l++ {
				s.config = sched.ElasticConfig{WorkerType: m, ServerType: p, OneServer: true, Workers: s.workers(m, p, l), Slots: l}
				for s.start = s.first; s.start+l <= q.Tau; s.start++ {
					s.price()
					for h := range s.y {
						if s.dear(s.config.Workers, s.omega(h)) {
							continue
						}
						clear(s.y)
						s.y[h] = s.config.Workers
						if s.holds(h) >= s.config.Workers && s.holdsServers(h, s.config.Workers) >= 1 {
							s.offer(h, 1)
						}
					}
				}
			}
		}
	}
	return s.result()
}

// RingMinCost1 is Algorithm 6: q_j = 1, all workers of a ring on one server.
func RingMinCost1(q Query) (pricing.Choice, bool) {
	return ring(q, true, func(s *search) {
		s.price()
		for h := range s.y {
			if s.dear(s.config.Workers, s.omega(h)) {
				continue
			}
			clear(s.y)
			if s.y[h] = min(s.holds(h), s.config.Workers); s.y[h] == s.config.Workers {
				s.offer(-1, 0)
			}
		}
	})
}

// RingMinCost2 is Algorithm 7: q_j = 0, the workers of a ring on any servers.
// The result's Workers may not add up to those of its configuration, if as
// printed.
func RingMinCost2(q Query, v Variant) (pricing.Choice, bool) {
	var of sched.ElasticConfig
	left := 0 // N̂
	return ring(q, false, func(s *search) {
		switch {
		case v != Printed:
			left = s.config.Workers
		case of != s.config:
			left = int(s.config.Slots) // line 5
		}
		of = s.config
		if !s.sort(v.least(s.config.Workers)) {
			return
		}
		clear(s.y)
		for _, h := range s.order {
			s.y[h] = min(s.holds(h), left)
			left -= s.y[h]
		}
		if left == 0 {
			s.offer(-1, 0)
		}
	})
}

// ring calls place for every worker type, number of workers and start.
func ring(q Query, one bool, place func(*search)) (pricing.Choice, bool) {
	s := newSearch(&q)
	s.config.OneServer = one
	e := q.In.Jobs[q.Job].Elastic
	for m := range e.Train {
		for n := 1; n <= e.MaxWorkers; n++ {
			d := s.slots(m, 0, n)
			s.config = sched.ElasticConfig{WorkerType: m, OneServer: one, Workers: n, Slots: d}
			for s.start = s.first; s.start+d <= q.Tau; s.start++ {
				place(s)
			}
		}
	}
	return s.result()
}

// search is one algorithm under way.
type search struct {
	q      *Query
	first  int64
	config sched.ElasticConfig
	start  int64 // t⁻
	order  []int // servers, the cheapest for a worker first
	y      []int // by server
	best   pricing.Choice
	found  bool

	worker int              // the type that paid is of, −1 at first
	paid   []number.Uint128 // what a worker costs on server h in the slots before t, at h·(tau + 1) + t
	omegas []number.Uint128 // Ω_h in the window
	least  [][]int64        // what is left in 2^k slots from t on, by k, laid out as Prices.Of
}

func newSearch(q *Query) *search {
	servers := len(q.In.Cluster.Servers)
	return &search{q: q, first: q.In.FirstSlot(q.Job), y: make([]int, servers), omegas: make([]number.Uint128, servers), worker: -1, least: leastLeft(q)}
}

// leastLeft returns, for k = 0, 1, …, the least that is left of every resource in the
// 2^k slots from each slot on.
func leastLeft(q *Query) [][]int64 {
	if q.Room == nil {
		return nil
	}
	slots := q.Room.Slots
	table := [][]int64{q.Room.Free}
	for length := 1; 2*length <= slots; length *= 2 {
		below := table[len(table)-1]
		next := make([]int64, len(below))
		for row := 0; row < len(below); row += slots {
			for t := range slots - 2*length + 1 {
				next[row+t] = min(below[row+t], below[row+t+length])
			}
		}
		table = append(table, next)
	}
	return table
}

func (s *search) result() (pricing.Choice, bool) { return s.best, s.found }

// work returns W_j θ in slots of one worker.
func (s *search) work(m, p, n int) *big.Rat {
	w := s.q.In.BatchTime(s.q.Job, m, p, n, s.config.OneServer)
	w.Mul(w, big.NewRat(s.q.In.Jobs[s.q.Job].Elastic.Batches, 1))
	return w.Quo(w, big.NewRat(int64(s.q.In.Slot), 1_000_000))
}

// slots returns how many slots n workers take, τ + 1 for more than τ.
func (s *search) slots(m, p, n int) int64 {
	d := s.work(m, p, n)
	return min(ceil(d.Quo(d, big.NewRat(int64(n), 1))), s.q.Tau+1)
}

// workers returns the least number of workers that take at most l slots, of
// parameter servers' jobs.
func (s *search) workers(m, p int, l int64) int {
	w := s.work(m, p, 1)
	return int(ceil(w.Quo(w, big.NewRat(l, 1))))
}

// ceil returns the least whole number that is not less, or MaxInt64.
func ceil(v *big.Rat) int64 {
	q := number.CeilInt(v)
	if !q.IsInt64() {
		return math.MaxInt64
	}
	return q.Int64()
}

// price adds up what a worker of the type costs on every server, over time.
func (s *search) price() {
	m := s.config.WorkerType
	if s.worker == m {
		return
	}
	s.worker, s.paid = m, s.paid[:0]
	demand := s.q.In.Elastic.Workers[m].Demand
	for h := range s.y {
		var sum number.Uint128
		s.paid = append(s.paid, sum)
		for t := range int(s.q.Tau) {
			for r, e := range demand {
				sum = sum.Plus(number.Product(uint64(s.q.Prices.Of[(h*len(demand)+r)*s.q.Prices.Slots+t]), uint64(e)))
			}
			s.paid = append(s.paid, sum)
		}
	}
}

// omega returns Ω_h, what a worker costs on a server in the window.
func (s *search) omega(h int) number.Uint128 {
	row := s.paid[h*int(s.q.Tau+1):]
	return row[s.start+s.config.Slots].Minus(row[s.start])
}

// dear reports whether so many workers, at the given cost each, cost no less than the
// best schedule does.
func (s *search) dear(workers int, each number.Uint128) bool {
	if !s.found || workers == 0 {
		return s.found && s.best.Cost == 0
	}
	return !each.Less(number.Uint128{Lo: uint64(number.CeilDiv(s.best.Cost, int64(workers)))})
}

// sort lists the servers by Ω_h. It is false, and the window not worth a look, if no
// schedule of at least so many workers is cheaper than the best.
func (s *search) sort(workers int) bool {
	s.price()
	s.order = s.order[:0]
	for h := range s.omegas {
		s.omegas[h] = s.omega(h)
		s.order = append(s.order, h)
	}
	if s.dear(workers, slices.MinFunc(s.omegas, number.Uint128.Compare)) {
		return false
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return s.omegas[a].Compare(s.omegas[b]) })
	return true
}

// free returns ω, what is left of a resource throughout the window.
func (s *search) free(h, r int) int64 {
	if s.least == nil {
		return s.q.In.Cluster.Servers[h].Capacity[r]
	}
	k := bits.Len64(uint64(s.config.Slots)) - 1
	row := s.least[k][(h*len(s.q.In.Elastic.Resources)+r)*s.q.Room.Slots:]
	return min(row[s.start], row[s.start+s.config.Slots-1<<k])
}

// holds returns how many workers a server has room for.
func (s *search) holds(h int) int {
	n := int64(math.MaxInt64)
	for r, e := range s.q.In.Elastic.Workers[s.config.WorkerType].Demand {
		if e > 0 {
			n = min(n, s.free(h, r)/e)
		}
	}
	return int(n)
}

// holdsServers returns how many parameter servers a server has room for beside
// g workers.
func (s *search) holdsServers(h, g int) int64 {
	n := int64(math.MaxInt64)
	worker := s.q.In.Elastic.Workers[s.config.WorkerType].Demand
	for r, z := range s.q.In.Elastic.Servers[s.config.ServerType].Demand {
		if z > 0 {
			n = min(n, (s.free(h, r)-int64(g)*worker[r])/z)
		}
	}
	return n
}

// bandwidths returns b and B.
func (s *search) bandwidths() (b, most int64) {
	e := s.q.In.Elastic
	return e.Workers[s.config.WorkerType].Demand[e.Bandwidth], e.Servers[s.config.ServerType].Demand[e.Bandwidth]
}

// offer prices y with parameter servers on a host, −1 in a ring, and keeps the
// cheapest.
func (s *search) offer(host, servers int) {
	c := pricing.Choice{ElasticConfig: s.config, Start: s.start, Workers: s.y, Host: host, Servers: servers}
	c.Cost = s.q.Prices.Cost(s.q.In, &c)
	if !s.found || c.Cost < s.best.Cost {
		c.Workers = slices.Clone(s.y)
		s.best, s.found = c, true
	}
}
