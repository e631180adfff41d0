package schedtest

import (
	"fmt"
	"math/rand/v2"

	"yardstick/sched"
)

// RandomElasticSchedule returns a random schedule of class Es with every job in
// it: in a random order, each job starts with a random choice in the earliest
// slot, or a few later, in which that fits beside the jobs before it. It panics
// if a job runs nowhere.
func RandomElasticSchedule(r *rand.Rand, in *sched.Instance) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
	used := map[int64][][]int64{} // by slot: server, resource
	for _, i := range r.Perm(len(in.Jobs)) {
		id := sched.JobID(i)
		choices := ElasticChoices(in, id)
		if len(choices) == 0 {
			panic(fmt.Sprintf("schedtest: job %d of instance %q runs nowhere", id, in.Name))
		}
		c := choices[r.IntN(len(choices))]
		at := in.FirstSlot(id) + int64(r.IntN(3))
		for !takeSlots(in, used, &c, at) {
			at++
		}
		s.Segments = append(s.Segments, in.ElasticSegment(id, at, c.Slots, c.Place))
	}
	s.Sort()
	return s
}

// takeSlots adds what the choice takes from the slot on, if there is as much.
func takeSlots(in *sched.Instance, used map[int64][][]int64, c *ElasticChoice, at int64) bool {
	for _, take := range []bool{false, true} {
		for t := at; t < at+c.Slots; t++ {
			if used[t] == nil {
				used[t] = make([][]int64, len(in.Cluster.Servers))
				for h := range used[t] {
					used[t][h] = make([]int64, len(in.Elastic.Resources))
				}
			}
			for i := range c.Place.Shares {
				h := c.Place.Shares[i].Server
				for r, has := range in.Cluster.Servers[h].Capacity {
					f := in.ElasticDemand(&c.Place, i, r)
					if take {
						used[t][h][r] += f
					} else if used[t][h][r]+f > has {
						return false
					}
				}
			}
		}
	}
	return true
}
