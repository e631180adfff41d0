package listsched

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Order is what waiting jobs are ordered by: something that every job has, or a column
// of the job list, which instances carry as a key. The zero value is the release.
type Order struct {
	kind   int    // index in orders
	column string // "" if none
	down   bool   // by column, the largest first
}

// orders has a row for each order without a column.
var orders = []struct {
	name string
	key  Key
}{
	{"release", ByRelease},
	{"shortest", ByDuration},
	{"longest", reversed(ByDuration)},
	{"fewest-gpus", byGang},
	{"most-gpus", reversed(byGang)},
	{"least-service", byService},
	{"most-service", reversed(byService)},
}

const (
	columnPrefix = "column:"
	downPrefix   = "descending:"
)

// String returns the order as it is written in results.
func (o Order) String() string {
	switch {
	case o.down:
		return downPrefix + o.column
	case o.column != "":
		return columnPrefix + o.column
	}
	return orders[o.kind].name
}

// MarshalText implements encoding.TextMarshaler.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Order) UnmarshalText(text []byte) error {
	s := string(text)
	up, isUp := strings.CutPrefix(s, columnPrefix)
	down, isDown := strings.CutPrefix(s, downPrefix)
	switch {
	case isUp && up != "":
		*o = Order{column: up}
		return nil
	case isDown && down != "":
		*o = Order{column: down, down: true}
		return nil
	}
	var names []string
	for i, row := range orders {
		if row.name == s {
			*o = Order{kind: i}
			return nil
		}
		names = append(names, row.name)
	}
	return fmt.Errorf("order %q is unknown: %s, %sNAME for a column of the job list, %sNAME for its largest first", text, strings.Join(names, ", "), columnPrefix, downPrefix)
}

// Column returns the column that the order reads, "" if none.
func (o Order) Column() string { return o.column }

// Requires returns an error if the instance lacks the column.
func (o Order) Requires(in *sched.Instance) error {
	if o.column == "" || slices.Contains(in.Keys, o.column) {
		return nil
	}
	if len(in.Keys) == 0 {
		return fmt.Errorf("it orders jobs by the column %q, and the instance carries no column of a job list", o.column)
	}
	return fmt.Errorf("it orders jobs by the column %q, and the instance has only: %s", o.column, strings.Join(in.Keys, ", "))
}

// Key returns the key of the order, for an instance that has what Requires asks for.
func (o Order) Key() Key {
	if o.column == "" {
		return orders[o.kind].key
	}
	return func(v *sim.View, id sched.JobID) (int64, error) {
		x, err := v.Key(id, o.column)
		key := sortable(x)
		if o.down {
			key = -key
		}
		return key, err
	}
}

// sortable maps finite numbers to whole ones of the same order, whose negatives are
// numbers too.
func sortable(x float64) int64 {
	b := int64(math.Float64bits(x + 0)) // no negative zero
	if b < 0 {
		return -(b & math.MaxInt64)
	}
	return b
}

func reversed(key Key) Key {
	return func(v *sim.View, id sched.JobID) (int64, error) {
		k, err := key(v, id)
		return -k, err
	}
}

func byGang(v *sim.View, id sched.JobID) (int64, error) {
	j, err := v.Job(id)
	return int64(j.Gang), err
}

// byService is ByDuration times the gang, in GPU-microseconds.
func byService(v *sim.View, id sched.JobID) (int64, error) {
	d, err := ByDuration(v, id)
	if err != nil {
		return 0, err
	}
	j, err := v.Job(id)
	return d * int64(j.Gang), err // at most sched.MaxGPUs times sched.MaxTime
}

// Ordered serves jobs in an order.
func Ordered(order Order, o Options) *Policy {
	p := New("list", order.Key(), o)
	p.order = order
	return p
}
