package sched

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Time is a point in time or a running time, in microseconds since the
// instance's epoch. Its text form is that of time.Duration ("1h2m3.5s").
type Time int64

// Second is one second as a Time.
const Second Time = 1_000_000

// MaxTime is the largest time an instance may mention, about 29 years. Sums of
// a few such times, and products with any number of GPUs up to 10,000, do not
// overflow an int64.
const MaxTime Time = 900_000_000 * Second

// Seconds returns t in seconds, for display and for columns whose name ends in
// _s. It is not used in any comparison.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// String returns t as a time.Duration would print it.
func (t Time) String() string { return (time.Duration(t) * time.Microsecond).String() }

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It refuses times below
// one microsecond's resolution and beyond MaxTime.
func (t *Time) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a time: write it with a unit, such as 90s or 1h30m", text)
	}
	if d%time.Microsecond != 0 {
		return fmt.Errorf("%q is finer than a microsecond", text)
	}
	*t = Time(d / time.Microsecond)
	if *t > MaxTime || *t < -MaxTime {
		return fmt.Errorf("%q is beyond %v, the longest time an instance may hold", text, MaxTime)
	}
	return nil
}

// Duration is the length of a part of one iteration, in nanoseconds.
type Duration time.Duration

// String returns d as a time.Duration would print it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration: write it with a unit, such as 130ms or 2h", text)
	}
	*d = Duration(v)
	return nil
}

// Bytes is a size. Its text form takes decimal and binary units: 100MB is 1e8
// bytes, 1GiB is 2^30; it is written in decimal ones.
type Bytes int64

var byteUnits = []unit{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}
var binaryUnits = []unit{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// String returns b in the largest unit that leaves a whole number.
func (b Bytes) String() string { return formatUnit(int64(b), byteUnits) }

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := parseUnit(string(text), slices.Concat(binaryUnits, byteUnits), "a size such as 100MB or 2GB")
	*b = Bytes(v)
	return err
}

// Bandwidth is in bytes per second. Its text form takes decimal units of bits
// (10Gbps is 1.25e9 bytes per second) or bytes (300GB/s).
type Bandwidth int64

var bandwidthUnits = []unit{{"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}}
var bitUnits = []unit{{"Tbps", 125e9}, {"Gbps", 125e6}, {"Mbps", 125e3}, {"Kbps", 125}}

// String returns b in the largest unit that leaves a whole number.
func (b Bandwidth) String() string {
	if b > 0 && b%bandwidthUnits[0].size != 0 && b%bitUnits[1].size == 0 {
		return formatUnit(int64(b), bitUnits[1:2])
	}
	return formatUnit(int64(b), bandwidthUnits)
}

// MarshalText implements encoding.TextMarshaler.
func (b Bandwidth) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bandwidth) UnmarshalText(text []byte) error {
	units := bandwidthUnits
	if strings.HasSuffix(string(text), "bps") {
		units = bitUnits
	}
	v, err := parseUnit(string(text), units, "a bandwidth such as 10Gbps or 300GB/s")
	*b = Bandwidth(v)
	return err
}

type unit struct {
	name string
	size Bandwidth
}

func formatUnit(v int64, units []unit) string {
	for _, u := range units {
		if v%int64(u.size) == 0 && (v != 0 || u.size == 1) {
			return fmt.Sprintf("%d%s", v/int64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d%s", v, units[len(units)-1].name)
}

// parseUnit reads a decimal number followed by one of the units. The product
// must be a whole number that fits an int64.
func parseUnit(s string, units []unit, want string) (int64, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.name)
		digits = strings.TrimSpace(digits)
		if !ok || digits == "" || strings.Trim(digits, "0123456789.") != "" {
			continue
		}
		v, ok := new(big.Rat).SetString(digits)
		if !ok {
			continue
		}
		v.Mul(v, new(big.Rat).SetInt64(int64(u.size)))
		if !v.IsInt() || v.Num().Cmp(big.NewInt(math.MaxInt64)) > 0 {
			return 0, fmt.Errorf("%q is not a whole number of bytes that fits 63 bits", s)
		}
		return v.Num().Int64(), nil
	}
	return 0, fmt.Errorf("%q is not %s", s, want)
}
