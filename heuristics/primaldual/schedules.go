package primaldual

import (
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual/mincost"
	"yardstick/sched"
)

// Schedules says how A_maxweight finds the cheapest schedule of a job, lines 3 to 7
// of Algorithm 3.
type Schedules uint8

// The ways.
const (
	// ExactSchedules are those of package pricing: no schedule is cheaper.
	ExactSchedules Schedules = iota
	// PrintedSchedules are those of Algorithms 4 to 7 to the letter. As these count
	// the workers that are still to be placed down and never anew, the cheapest
	// schedule may have fewer workers than it needs. Nothing can run so: the
	// job stays for the next problem, and is counted as unfit.
	PrintedSchedules
	// RepairedSchedules are those of Algorithms 4 to 7 with the number of workers
	// counted anew for every window and every host, and with at least one
	// parameter server: what the paper's authors must have meant. They are not
	// always the cheapest.
	RepairedSchedules
)

var scheduleNames = []string{"exact", "printed", "repaired"}

func (s Schedules) String() string { return scheduleNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Schedules) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Schedules) UnmarshalText(text []byte) error {
	return parse(s, text, scheduleNames, "schedules")
}

// asPrinted is lines 3 to 7 of Algorithm 3 by Algorithms 4 and 5, or 6 and 7 for a
// ring: on one server first, and on several if that is cheaper.
//
// A schedule across servers may have been placed on one, where the job needs fewer
// slots than it is given. It keeps those that it is given, as printed.
func (a *auction) asPrinted(id sched.JobID) (pricing.Choice, bool) {
	q := mincost.Query{In: a.p.Model.In, Job: id, Tau: a.p.Horizon, Prices: a.prices, Room: a.room}
	variant, one, several := mincost.Printed, mincost.MinCost2, mincost.MinCost1
	ring := q.In.Jobs[id].Elastic.Ring
	if ring {
		one, several = mincost.RingMinCost1, mincost.RingMinCost2
	}
	switch {
	case a.g.Schedules == PrintedSchedules:
	case ring:
		variant = mincost.Reset
	default:
		variant = mincost.AtLeastOne
	}
	best, ok := one(q)
	if c, found := several(q, variant); found && (!ok || c.Cost < best.Cost) {
		best, ok = c, true
	}
	placed := 0
	for _, n := range best.Workers {
		placed += n
	}
	if ok && placed != best.ElasticConfig.Workers {
		a.out.Unfit++
		return best, false
	}
	return best, ok
}
