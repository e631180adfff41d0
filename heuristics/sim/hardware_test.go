package sim_test

import (
	"context"
	"testing"

	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// asks is a policy that starts one job and notes what the view says.
type asks struct {
	cluster sched.Cluster
	slot    sched.Time
}

func (*asks) Name() string       { return "asks" }
func (*asks) Class() sched.Class { return sched.Class{Kind: sched.N} }
func (a *asks) Decide(v *sim.View) (d sim.Decision, err error) {
	a.cluster, a.slot = v.Hardware(), v.Slot()
	for _, id := range v.Arrived() {
		place, _, err := v.Place(id, sim.Pool)
		if err != nil {
			return d, err
		}
		d.Start = append(d.Start, sim.Assignment{Job: id, Place: place})
	}
	return d, nil
}

// TestHardware: a view tells the cluster as it is, and slots of slotted runs
// only.
func TestHardware(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(3, 1), schedtest.Job(0, 2, 5))
	in.Slot = 4
	for slotted, want := range map[bool]sched.Time{false: 0, true: 4} {
		var a asks
		if _, err := sim.Run(context.Background(), in, &a, sim.Options{Slotted: slotted}); err != nil {
			t.Fatal(err)
		}
		if a.slot != want || len(a.cluster.Servers) != 2 || a.cluster.GPUs() != 4 || a.cluster.Inter != in.Cluster.Inter {
			t.Errorf("slotted %t: the view tells %+v and slots of %v", slotted, a.cluster, a.slot)
		}
	}
}
