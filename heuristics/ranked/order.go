package ranked

import (
	"fmt"
	"math/big"
	"math/bits"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Order is what jobs are ranked by. The zero value is the remaining service.
type Order struct {
	kind  kind
	fixed listsched.Order // where kind is fixed
}

type kind uint8

const (
	remainingService kind = iota
	remainingTime
	fixed
)

// The orders that change while a job runs.
const (
	serviceName = "remaining-service"
	timeName    = "remaining-time"
)

// String returns the order as it is written in results.
func (o Order) String() string {
	switch o.kind {
	case remainingService:
		return serviceName
	case remainingTime:
		return timeName
	}
	return o.fixed.String()
}

// MarshalText implements encoding.TextMarshaler.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Order) UnmarshalText(text []byte) error {
	switch string(text) {
	case serviceName:
		*o = Order{kind: remainingService}
		return nil
	case timeName:
		*o = Order{kind: remainingTime}
		return nil
	}
	var static listsched.Order
	if err := static.UnmarshalText(text); err != nil {
		return fmt.Errorf("%w; or %s, %s", err, timeName, serviceName)
	}
	*o = Order{kind: fixed, fixed: static}
	return nil
}

// New returns the preemptive list of an order. What is left of a job is what it is
// expected to have left at the speed that it has on the GPUs of [sim.View.Consolidated],
// wherever it runs: else two jobs on slow GPUs could preempt each other for ever. Loads
// are not part of it.
//
// Source: "shortest", "shortest-gpu" and "sjf" of Tiresias's simulator, and SRTF of
// Helios's, rank by remaining time, remaining service, gang and remaining time. Ties go
// to the earlier release there too, at first, and then to whoever was ahead.
func New(o Order, placement sim.Rule) *Policy {
	return newPolicy(&byOrder{title: "preemptive-list", order: o, key: o.fixed.Key()}, placement)
}

// SRSF returns shortest remaining service first: the job whose remaining time times gang
// is least.
//
// Source: J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning
// (2019), which calls it so, and "shortest-gpu" of its simulator.
func SRSF(placement sim.Rule) *Policy {
	return newPolicy(&byOrder{title: "srsf"}, placement)
}

// byOrder ranks by an order.
type byOrder struct {
	title string
	order Order
	key   listsched.Key
}

func (d *byOrder) name() string { return d.title }

func (d *byOrder) requires(in *sched.Instance) error {
	if d.order.kind == fixed {
		return d.order.fixed.Requires(in)
	}
	return nil
}

func (d *byOrder) waits(v *sim.View, j *job) error {
	if d.order.kind == fixed {
		key, err := d.key(v, j.id)
		j.rank.first = key
		return err
	}
	place, err := v.Consolidated(j.id)
	if err != nil {
		return err
	}
	j.left, err = remaining(v, j.id, &place)
	d.rank(j, j.left)
	return err
}

func (d *byOrder) starts(v *sim.View, j *job, place *sched.Placement) error {
	if d.order.kind == fixed {
		return nil
	}
	var err error
	j.here, err = remaining(v, j.id, place)
	return err
}

func (d *byOrder) runs(now sched.Time, j *job) { d.rank(j, j.remaining(now)) }

func (d *byOrder) stops(now sched.Time, j *job) {
	j.left = j.remaining(now)
	d.rank(j, j.left)
}

// remaining returns left·(here − trained)/here, rounded up: what is left falls to 0 while
// the job trains.
func (j *job) remaining(now sched.Time) sched.Time {
	rest := j.here - j.trained(now)
	switch {
	case rest <= 0:
		return 0
	case j.here == j.left:
		return rest
	}
	high, low := bits.Mul64(uint64(j.left), uint64(rest))
	q, r := bits.Div64(high, low, uint64(j.here)) // rest ≤ here, so the quotient is at most left
	if r > 0 {
		q++
	}
	return sched.Time(q)
}

func (d *byOrder) rank(j *job, left sched.Time) {
	switch d.order.kind {
	case remainingService:
		j.rank.first = int64(left) * int64(j.gang) // at most sched.MaxGPUs times sched.MaxTime
	case remainingTime:
		j.rank.first = int64(left)
	}
}

func (d *byOrder) promote(sched.Time) []*job          { return nil }
func (d *byOrder) chosen(held, preempted []*job)      {}
func (d *byOrder) wake(sched.Time) (never sched.Time) { return 0 }

// remaining returns what is expected to be left of a job, at the speed that it has on a
// placement.
func remaining(v *sim.View, id sched.JobID, place *sched.Placement) (sched.Time, error) {
	left, err := v.Remaining(id)
	if err != nil {
		return 0, err
	}
	alpha, err := v.IterTime(id, place)
	if err != nil {
		return 0, err
	}
	left.Mul(left, alpha).Mul(left, big.NewRat(int64(sched.Second), 1))
	up := new(big.Int).Add(left.Num(), left.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, left.Denom())
	if !up.IsInt64() || sched.Time(up.Int64()) > sched.MaxTime {
		return 0, fmt.Errorf("ranked: job %d is expected to train for more than %v", id, sched.MaxTime)
	}
	return sched.Time(up.Int64()), nil
}
