package listsched

import (
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// Layout says which stages of a job run on which of the GPUs that the placement
// rule selects.
type Layout uint8

// The layouts.
const (
	// Chain fills servers in order of index with replicas in pipeline order.
	Chain Layout = iota
	// HeavyEdge keeps heavily communicating replicas together: see
	// [heavyedge.Place].
	HeavyEdge
)

var layoutNames = []string{"chain", "heavy-edge"}

func (l Layout) String() string { return layoutNames[l] }

// MarshalText implements encoding.TextMarshaler.
func (l Layout) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Layout) UnmarshalText(text []byte) error {
	i := slices.Index(layoutNames, string(text))
	if i < 0 {
		return fmt.Errorf("layout %q is unknown: %v", text, layoutNames)
	}
	*l = Layout(i)
	return nil
}

// place finds and holds GPUs for a job that fits.
func (o Options) place(v *sim.View, id sched.JobID) (sched.Placement, error) {
	j, err := v.Job(id)
	if err != nil {
		return sched.Placement{}, err
	}
	if o.Layout == Chain || len(j.Stages) == 1 { // a single stage has one layout
		place, ok, err := v.Place(id, o.Placement)
		if err == nil && !ok {
			err = fmt.Errorf("listsched: no placement for job %d, which fits", id)
		}
		return place, err
	}
	shares, ok, err := v.Pick(id, o.Placement)
	if err != nil {
		return sched.Placement{}, err
	}
	if !ok {
		return sched.Placement{}, fmt.Errorf("listsched: no placement for job %d, which fits", id)
	}
	parts := make([]heavyedge.Part, len(shares))
	for i, sh := range shares {
		parts[i] = heavyedge.Part{Server: sh.Server, GPUs: sh.GPUs}
	}
	place, err := heavyedge.Place(&sched.Job{Stages: j.Stages, Edges: j.Edges}, parts, o.AllReduce)
	if err != nil {
		return sched.Placement{}, err
	}
	return place, v.Hold(id, place)
}
