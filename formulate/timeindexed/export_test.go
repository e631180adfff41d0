package timeindexed

import (
	"context"

	"yardstick/sched"
)

// Grid returns the slot that Solve cuts time into, and whether it divides all data.
func Grid(in *sched.Instance, obj sched.Objective, opt Options) (slot sched.Time, exact bool, err error) {
	s, err := newSearch(context.Background(), in, obj, nil, opt)
	if err != nil {
		return 0, false, err
	}
	return s.slot, s.exact, nil
}
