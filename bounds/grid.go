package bounds

import (
	"errors"
	"fmt"
	"sort"

	"yardstick/sched"
)

// Limits of a grid. Times up to its end are exact in float64.
const (
	maxSlots = 1 << 20
	lastTime = 4 * sched.MaxTime
)

// Grid cuts time into slots: slot k is [Grid[k], Grid[k+1]). It begins with 0 and
// increases. Slots may have different lengths; what comes after the last one
// is in no slot.
type Grid []sched.Time

// UniformGrid returns slots of the given length that cover the time from 0 to
// the horizon, and at least one.
func UniformGrid(slot, horizon sched.Time) Grid {
	g := Grid{0, slot}
	for g.End() < horizon {
		g = append(g, g.End()+slot)
	}
	return g
}

// Slots returns the number of slots.
func (g Grid) Slots() int { return len(g) - 1 }

// End returns the end of the last slot.
func (g Grid) End() sched.Time { return g[len(g)-1] }

// Slot returns the slot that holds t, or Slots() if t is beyond the last one.
func (g Grid) Slot(t sched.Time) int {
	return sort.Search(len(g), func(k int) bool { return g[k] > t }) - 1
}

// Validate returns an error unless the grid begins with 0, increases, has
// between 1 and 2^20 slots and ends by 4·MaxTime.
func (g Grid) Validate() error {
	switch {
	case len(g) < 2:
		return errors.New("bounds: a grid without slots")
	case g.Slots() > maxSlots:
		return fmt.Errorf("bounds: a grid of %d slots: at most %d are supported", g.Slots(), maxSlots)
	case g[0] != 0 || g.End() > lastTime:
		return fmt.Errorf("bounds: a grid from %v to %v: it must begin with 0 and end by %v", g[0], g.End(), lastTime)
	}
	for k := range g.Slots() {
		if g[k] >= g[k+1] {
			return fmt.Errorf("bounds: slot %d of the grid is from %v to %v", k, g[k], g[k+1])
		}
	}
	return nil
}
