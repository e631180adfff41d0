package pricing

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"yardstick/sched"
)

// Market is a model with prices and room, ready for queries. It is for one
// goroutine at a time, and must not outlive a change of its room.
type Market struct {
	model   *Model
	prices  *Prices
	room    *Room // nil: the empty cluster
	slots   int64
	grouped bool
	groups  [][]int // servers with equal capacities, prices and room
	free    *minima // nil without a room
	workers []tally // by type
	servers []tally // by type
	apart   *Market // every server a group of its own
	scratch candidate
	list    []prospect
}

// Market prepares for queries under the given prices and room, nil for the
// empty cluster. It panics if they are not for the same number of slots.
//
// Cost: O(H R T log T) with a room, otherwise O((M + P) H T).
func (m *Model) Market(p *Prices, room *Room) *Market {
	if room != nil && room.Slots != p.Slots {
		panic(fmt.Sprintf("pricing: room for %d slots and prices for %d", room.Slots, p.Slots))
	}
	mk := &Market{model: m, prices: p, room: room, slots: int64(p.Slots), grouped: true, groups: m.groups(p, room)}
	mk.prepare()
	return mk
}

// Groups returns servers that no query can tell apart, in lists.
func (mk *Market) Groups() [][]int { return mk.groups }

// apartMarket returns the market without groups.
func (mk *Market) apartMarket() *Market {
	if mk.apart == nil {
		mk.apart = &Market{model: mk.model, prices: mk.prices, room: mk.room, slots: mk.slots}
		for h := range mk.model.In.Cluster.Servers {
			mk.apart.groups = append(mk.apart.groups, []int{h})
		}
		mk.apart.prepare()
	}
	return mk.apart
}

// groups puts together the servers that no query can tell apart.
func (m *Model) groups(p *Prices, room *Room) [][]int {
	var out [][]int
	n := len(m.In.Elastic.Resources) * p.Slots
	equal := func(a, b int) bool {
		return slices.Equal(m.In.Cluster.Servers[a].Capacity, m.In.Cluster.Servers[b].Capacity) &&
			slices.Equal(p.Of[a*n:][:n], p.Of[b*n:][:n]) && (room == nil || slices.Equal(room.Free[a*n:][:n], room.Free[b*n:][:n]))
	}
	for h := range m.In.Cluster.Servers {
		g := slices.IndexFunc(out, func(other []int) bool { return equal(other[0], h) })
		if g < 0 {
			out = append(out, []int{h})
		} else {
			out[g] = append(out[g], h)
		}
	}
	return out
}

func (mk *Market) prepare() {
	in := mk.model.In
	for i := range in.Elastic.Workers {
		mk.workers = append(mk.workers, mk.tally(in.Elastic.Workers[i].Demand))
	}
	for i := range in.Elastic.Servers {
		mk.servers = append(mk.servers, mk.tally(in.Elastic.Servers[i].Demand))
	}
	if mk.room != nil {
		mk.free = newMinima(mk)
	}
	mk.scratch.mk = mk
}

// tally is what a container costs: on a server of a group, from slot a to b,
// sums[group][b] − sums[group][a].
type tally struct {
	slots int64
	sums  [][]int64        // nil for groups whose empty servers hold no such container
	holds []int64          // how many an empty server of each group holds
	most  int64            // how many the server that holds most of them holds
	ranks int              // how many servers floors look at
	least map[int64]floors // by length of the window
	reach map[int]*reach   // by number of containers
}

func (mk *Market) tally(demand []int64) tally {
	in := mk.model.In
	out := tally{slots: mk.slots, ranks: 1, least: map[int64]floors{}, reach: map[int]*reach{}}
	if mk.room == nil {
		out.ranks = manyRanks
	}
	for _, g := range mk.groups {
		holds := int64(math.MaxInt64)
		for r, capacity := range in.Cluster.Servers[g[0]].Capacity {
			if demand[r] > 0 {
				holds = min(holds, capacity/demand[r])
			}
		}
		out.holds = append(out.holds, holds)
		out.most = max(out.most, holds)
		if holds == 0 {
			out.sums = append(out.sums, nil)
			continue
		}
		sum := make([]int64, mk.slots+1)
		for r, v := range demand {
			if v == 0 {
				continue
			}
			for t, price := range mk.prices.row(len(demand), g[0], r) {
				sum[t+1] += v * price
			}
		}
		for t := range sum[1:] {
			sum[t+1] += sum[t]
		}
		out.sums = append(out.sums, sum)
	}
	return out
}

// over returns what a container costs on a server of the group in the slots
// from a to b, both at most slots.
func (y *tally) over(group int, a, b int64) int64 { return y.sums[group][b] - y.sums[group][a] }

// floors has, for every start of a window of some length, what a container costs there on
// the cheapest servers: that of rank i is at start·ranks + i, MaxInt64 if there are fewer.
type floors struct {
	ranks int
	costs []int64
}

// manyRanks is how many servers floors look at where a market serves many queries, as
// one without a room does.
const manyRanks = 8

// first returns what a container costs on the cheapest server.
func (f floors) first(start int64) int64 { return f.costs[start*int64(f.ranks)] }

// sum bounds what n containers cost of which no server holds more than holds; false if that
// is more than most.
func (f floors) sum(start, n, holds, most int64) (int64, bool) {
	sum := int64(0)
	for i, cost := range f.costs[start*int64(f.ranks):][:f.ranks] {
		here := n
		if i+1 < f.ranks {
			here = min(n, holds)
		}
		if cost == math.MaxInt64 || cost > (most-sum)/here {
			return 0, false
		}
		sum += here * cost
		if n -= here; n == 0 {
			break
		}
	}
	return sum, true
}

// leasts returns the floors of windows of d slots, whose starts are up to the number of
// slots.
func (y *tally) leasts(groups [][]int, d int64) floors {
	d = min(d, y.slots)
	if known, ok := y.least[d]; ok {
		return known
	}
	f := floors{ranks: y.ranks, costs: make([]int64, (y.slots+1)*int64(y.ranks))}
	for i := range f.costs {
		f.costs[i] = math.MaxInt64
	}
	for k, sum := range y.sums {
		switch {
		case sum == nil:
		case y.ranks == 1:
			y.lower(f.costs, sum, d)
		default:
			copies := min(len(groups[k]), y.ranks)
			for t := range sum {
				row := f.costs[t*y.ranks:][:y.ranks]
				cost := sum[min(int64(t)+d, y.slots)] - sum[t]
				for range copies {
					i := len(row) - 1
					if cost >= row[i] {
						break
					}
					for ; i > 0 && row[i-1] > cost; i-- {
						row[i] = row[i-1]
					}
					row[i] = cost
				}
			}
		}
	}
	y.least[d] = f
	return f
}

// lower takes a group into account that costs sum: of one rank.
func (y *tally) lower(costs, sum []int64, d int64) {
	whole := costs[:y.slots+1-d] // windows that end by the last slot
	from, to := sum[:len(whole)], sum[d:][:len(whole)]
	for t, least := range whole {
		whole[t] = min(least, to[t]-from[t])
	}
	for t, last := len(whole), sum[y.slots]; t < len(costs); t++ {
		costs[t] = min(costs[t], last-sum[t])
	}
}

// reach is what is known of the windows in which a number of containers has room: for each
// start, that it has up to one end, and has not from another on. A window within one that
// has room has room, too.
type reach struct{ has, lacks []int64 }

func newReach(slots int64) *reach {
	r := &reach{make([]int64, slots+1), make([]int64, slots+1)}
	for t := range r.lacks {
		r.lacks[t] = math.MaxInt64
	}
	return r
}

// note remembers whether the window from a to b has room.
func (r *reach) note(a, b int64, room bool) {
	if room {
		for t := a; t < int64(len(r.has)) && r.has[t] < b; t++ {
			r.has[t] = b
		}
		return
	}
	for t := a; t >= 0 && r.lacks[t] > b; t-- {
		r.lacks[t] = b
	}
}

// minima answers what is free throughout a window: a table of the minima over
// all windows whose length is a power of two.
type minima struct {
	slots  int
	levels [][]int64 // by logarithm of the length; (group·R + r)·slots + t
}

func newMinima(mk *Market) *minima {
	x := &minima{slots: int(mk.slots)}
	var base []int64
	for _, g := range mk.groups {
		for r := range mk.model.In.Elastic.Resources {
			base = append(base, mk.room.row(g[0], r)...)
		}
	}
	x.levels = [][]int64{base}
	for half := 1; 2*half <= x.slots; half *= 2 {
		last := x.levels[len(x.levels)-1]
		next := slices.Clone(last)
		for i := range next {
			if i%x.slots+half < x.slots {
				next[i] = min(last[i], last[i+half])
			}
		}
		x.levels = append(x.levels, next)
	}
	return x
}

// over returns the minimum of a row from slot a to b > a.
func (x *minima) over(row int, a, b int64) int64 {
	level := bits.Len64(uint64(b-a)) - 1
	list := x.levels[level][row*x.slots:]
	return min(list[a], list[b-1<<level])
}

// left returns what is free of a resource on a server of the group throughout
// the slots from a to b.
func (mk *Market) left(group, r int, a, b int64) int64 {
	if mk.free == nil || a >= b {
		return mk.model.In.Cluster.Servers[mk.groups[group][0]].Capacity[r]
	}
	return mk.free.over(group*len(mk.model.In.Elastic.Resources)+r, a, b)
}

// Fitter tells which configurations fit the empty cluster.
type Fitter struct {
	model  *Model // of one configuration at a time
	market *Market
}

// Fitter prepares for such questions.
func (m *Model) Fitter() *Fitter {
	single := &Model{In: m.In, Configs: make([][]sched.ElasticConfig, len(m.In.Jobs))}
	return &Fitter{single, single.Market(&Prices{}, nil)}
}

// Fits reports whether some placement of the configuration fits the empty
// cluster.
func (f *Fitter) Fits(id sched.JobID, c sched.ElasticConfig) bool {
	c.Slots = 1
	f.model.Configs[id] = []sched.ElasticConfig{c}
	_, ok := f.market.Cheapest(Query{Job: id, Latest: NoLimit})
	return ok
}
