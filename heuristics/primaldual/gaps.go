package primaldual

import (
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// gaps tells which configurations a room may have a window for: those for whose
// workers, and for one of whose parameter servers, there is room somewhere in
// sufficiently many consecutive slots. It spares most queries in a full cluster.
type gaps struct {
	workers []gap // by type
	servers []gap
}

// gap is about containers of one type.
type gap struct {
	count   []int64 // how many there is room for in each slot
	longest []int64 // by number of containers less one: consecutive slots with as much room; −1 if not known
}

// newGaps looks at what is left in every slot, of servers that are alike at one. Cost:
// O((M + P)·R·tau) for each such group.
func newGaps(in *sched.Instance, room *pricing.Room, groups [][]int) *gaps {
	g := &gaps{}
	for i := range in.Elastic.Workers {
		g.workers = append(g.workers, newGap(room, groups, in.Elastic.Workers[i].Demand))
	}
	for i := range in.Elastic.Servers {
		g.servers = append(g.servers, newGap(room, groups, in.Elastic.Servers[i].Demand))
	}
	return g
}

func newGap(room *pricing.Room, groups [][]int, demand []int64) gap {
	const enough = 1 << 20 // more than the workers of any job
	g := gap{count: make([]int64, room.Slots)}
	least := make([]int64, room.Slots)
	for _, group := range groups {
		for t := range least {
			least[t] = enough
		}
		for r, need := range demand {
			if need == 0 {
				continue
			}
			for t, free := range room.Free[(group[0]*len(demand)+r)*room.Slots:][:room.Slots] {
				if free < need*least[t] {
					least[t] = free / need
				}
			}
		}
		for t, n := range least {
			g.count[t] += int64(len(group)) * n
		}
	}
	return g
}

// slots returns in how many consecutive slots, at most, there is room for n
// containers.
func (g *gap) slots(n int) int64 {
	for len(g.longest) < n {
		g.longest = append(g.longest, -1)
	}
	if g.longest[n-1] < 0 {
		run := int64(0)
		g.longest[n-1] = 0
		for _, has := range g.count {
			if run++; has < int64(n) {
				run = 0
			}
			g.longest[n-1] = max(g.longest[n-1], run)
		}
	}
	return g.longest[n-1]
}

// allow reports, by index, which configurations of a job there may be room for,
// and whether there are any.
func (g *gaps) allow(m *pricing.Model, id sched.JobID) (allowed []bool, some bool) {
	configs := m.Configs[id]
	ring := m.In.Jobs[id].Elastic.Ring
	allowed = make([]bool, len(configs))
	for i := range configs {
		c := &configs[i]
		allowed[i] = c.Slots <= g.workers[c.WorkerType].slots(c.Workers) && (ring || c.Slots <= g.servers[c.ServerType].slots(1))
		some = some || allowed[i]
	}
	return allowed, some
}
