package generic

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/datasets/table"
)

// Unit is what the values of a column are in.
type Unit uint8

// The units: of times, from seconds to hours, or dates; of amounts, whole ones
// or parts. None is the schema's own unit: seconds, GPUs, cores.
const (
	None Unit = iota
	Second
	Millisecond
	Microsecond
	Nanosecond
	Minute
	Hour
	Day
	Date // such as 2020-06-09 18:41:01
	Percent
	Milli // thousandths
)

var unitNames = [...]string{None: "", Second: "s", Millisecond: "ms", Microsecond: "us", Nanosecond: "ns", Minute: "min", Hour: "h", Day: "d",
	Date: "date", Percent: "percent", Milli: "milli"}

// String returns the text form.
func (u Unit) String() string { return unitNames[u] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *Unit) UnmarshalText(text []byte) error {
	i := slices.Index(unitNames[1:], string(text))
	if i < 0 {
		return fmt.Errorf("unit %q: the nearest is %q (units are %s)", text, table.Nearest(string(text), unitNames[1:]), strings.Join(unitNames[1:], ", "))
	}
	*u = Unit(i + 1)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// ratio says how many of the schema's unit a value of v is, as v·mul/div with
// one of them 1: dividing by 1000 is exact where multiplying by 0.001 is not.
func (u Unit) ratio() (mul, div float64) {
	switch u {
	case Millisecond, Milli:
		return 1, 1e3
	case Microsecond:
		return 1, 1e6
	case Nanosecond:
		return 1, 1e9
	case Minute:
		return 60, 1
	case Hour:
		return 3600, 1
	case Day:
		return 86400, 1
	case Percent:
		return 1, 100
	}
	return 1, 1
}

// of reports whether the unit is one of times, or of amounts.
func (u Unit) ofTime() bool   { return u <= Date }
func (u Unit) ofAmount() bool { return u == None || u == Percent || u == Milli }
