package timeindexed

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// Sizes, in columns and nonzeros, of the programs that DefaultSlot aims at, and
// that it accepts for the sake of slots no longer than a twentieth of the
// median duration.
const (
	quickColumns  = 2_500
	quickNonzeros = 50_000
	mostColumns   = 5_000
	mostNonzeros  = 150_000
)

// DefaultSlot returns the slot length that Solve uses by default: the greatest
// common divisor of the data, with which the program is exact, if that keeps
// the program small enough; otherwise the shortest that keeps it quick; but if
// that is more than a twentieth of the median duration, the shortest above
// this that keeps it small enough.
func DefaultSlot(in *sched.Instance, obj sched.Objective) (sched.Time, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return 0, fmt.Errorf("timeindexed: instance %q: %w", in.Name, err)
	}
	return p.defaultSlot(p.first().cost), nil
}

// Size returns rows, columns and nonzeros of the relaxation with the given
// slot, so that a caller can leave out what is hopeless.
func Size(in *sched.Instance, obj sched.Objective, slot sched.Time) (rows, cols, nonzeros int, err error) {
	p, err := newProblem(in, obj)
	if err == nil && slot <= 0 {
		err = fmt.Errorf("the slot is %v: it must be positive", slot)
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("timeindexed: instance %q: %w", in.Name, err)
	}
	rows, cols, nonzeros = p.size(grid{slot: slot}, p.deadlines(grid{slot: slot}, p.first().cost))
	return rows, cols, nonzeros, nil
}

func (p *problem) defaultSlot(known *big.Rat) sched.Time {
	until := p.deadlines(grid{}, known)
	within := func(slot sched.Time, columns, nonzeros int) bool {
		_, c, n := p.size(grid{slot: slot}, until)
		return c <= columns && n <= nonzeros
	}
	if d := p.divisor(); within(d, mostColumns, mostNonzeros) {
		return d
	}
	var durations []sched.Time
	for i := range p.jobs {
		durations = append(durations, p.jobs[i].least())
	}
	slices.Sort(durations)
	slot := max(1, durations[len(durations)/2]/20)
	for shorter := slot; shorter > 0 && within(shorter, quickColumns, quickNonzeros); shorter -= shorter/8 + 1 {
		slot = shorter
	}
	for !within(slot, mostColumns, mostNonzeros) {
		slot += slot/8 + 1
	}
	return slot
}

// divisor returns the greatest common divisor of all release dates and
// durations.
func (p *problem) divisor() sched.Time {
	var d sched.Time
	for i := range p.jobs {
		d = number.GCD(d, p.jobs[i].release)
		for _, c := range p.jobs[i].choices {
			d = number.GCD(d, c.time)
		}
	}
	return d
}
