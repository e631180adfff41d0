package sched_test

import (
	"encoding"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/sched"
)

func TestUnitTexts(t *testing.T) {
	tests := []struct {
		value encoding.TextMarshaler
		text  string
	}{
		{sched.Time(0), "0s"},
		{sched.Time(1), "1µs"},
		{90 * sched.Second, "1m30s"},
		{-1500 * sched.Time(1000), "-1.5s"},
		{sched.MaxTime, "250000h0m0s"},
		{sched.Duration(130e6), "130ms"},
		{sched.Duration(1), "1ns"},
		{sched.Bytes(0), "0B"},
		{sched.Bytes(100e6), "100MB"},
		{sched.Bytes(1500e6), "1500MB"},
		{sched.Bytes(1_000_001), "1000001B"},
		{sched.Bytes(2e12), "2TB"},
		{sched.Bandwidth(125e6), "1Gbps"},
		{sched.Bandwidth(1_250_000_000), "10Gbps"},
		{sched.Bandwidth(300e9), "300GB/s"},
		{sched.Bandwidth(1e9), "1GB/s"},
		{sched.Bandwidth(7), "7B/s"},
		{sched.Bandwidth(125_000), "125KB/s"},
		{sched.TotalJCT, "total-jct"},
		{sched.Load, "load"},
		{sched.Class{Kind: sched.P, Slotted: true}, "Ps"},
	}
	for _, test := range tests {
		if text, err := test.value.MarshalText(); err != nil || string(text) != test.text {
			t.Errorf("%#v is written %q, %v; want %q", test.value, text, err, test.text)
		}
	}
}

func TestUnitReading(t *testing.T) {
	check := func(what string, got, want int64, err error) {
		if err != nil || got != want {
			t.Errorf("%q is read as %d, %v; want %d", what, got, err, want)
		}
	}
	for text, want := range map[string]sched.Time{"90s": 90e6, "1h30m": 5400e6, "2.5ms": 2500, "0": 0, "-1us": -1} {
		var v sched.Time
		err := v.UnmarshalText([]byte(text))
		check(text, int64(v), int64(want), err)
	}
	for text, want := range map[string]sched.Bytes{"1.5GB": 1.5e9, "3 MB": 3e6, "0B": 0, "12B": 12, "0.001KB": 1, "9223372036854775807B": 1<<63 - 1} {
		var v sched.Bytes
		err := v.UnmarshalText([]byte(text))
		check(text, int64(v), int64(want), err)
	}
	for text, want := range map[string]sched.Bandwidth{"10Gbps": 1.25e9, "0.1Gbps": 12.5e6, "8Kbps": 1000, "1Tbps": 125e9, "300GB/s": 3e11, "5B/s": 5, "2 KB/s": 2000} {
		var v sched.Bandwidth
		err := v.UnmarshalText([]byte(text))
		check(text, int64(v), int64(want), err)
	}
}

func TestUnitErrors(t *testing.T) {
	tests := []struct {
		value      encoding.TextUnmarshaler
		text, want string
	}{
		{new(sched.Time), "90", "unit"},
		{new(sched.Time), "", "not a time"},
		{new(sched.Time), "1.5us", "finer than a microsecond"},
		{new(sched.Time), "1ns", "finer than a microsecond"},
		{new(sched.Time), "250001h", "beyond"},
		{new(sched.Time), "-250001h", "beyond"},
		{new(sched.Duration), "5", "unit"},
		{new(sched.Bytes), "5", "not a size"},
		{new(sched.Bytes), "-5B", "not a size"},
		{new(sched.Bytes), "1e3B", "not a size"},
		{new(sched.Bytes), "MB", "not a size"},
		{new(sched.Bytes), "1.2.3MB", "not a size"},
		{new(sched.Bytes), "0.5B", "not a whole number"},
		{new(sched.Bytes), "9223372036854775808B", "63 bits"},
		{new(sched.Bandwidth), "10Gb", "not a bandwidth"},
		{new(sched.Bandwidth), "10", "not a bandwidth"},
		{new(sched.Bandwidth), "0.001Kbps", "not a whole number"},
		{new(sched.Objective), "mean", "unknown"},
		{new(sched.Objective), "", "unknown"},
		{new(sched.Phase), "idle", "train, load or pause"},
		{new(sched.Class), "Q", "unknown"},
		{new(sched.Class), "", "unknown"},
		{new(sched.Class), "s", "unknown"},
	}
	for _, test := range tests {
		if err := test.value.UnmarshalText([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T of %q: error %v, want one with %q", test.value, test.text, err, test.want)
		}
	}
}

// TestUnitRoundTrips writes and reads random values of every unit.
func TestUnitRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		n := r.Int64N(1 << r.IntN(63))
		n *= []int64{1, 1, 1000, 125}[r.IntN(4)]
		if n < 0 {
			continue
		}
		if v, got := sched.Time(n%int64(sched.MaxTime)), sched.Time(-1); got.UnmarshalText([]byte(v.String())) != nil || got != v {
			t.Fatalf("time %d is written %v and read %d", v, v, got)
		}
		if v, got := sched.Duration(n), sched.Duration(-1); got.UnmarshalText([]byte(v.String())) != nil || got != v {
			t.Fatalf("duration %d is written %v and read %d", v, v, got)
		}
		if v, got := sched.Bytes(n), sched.Bytes(-1); got.UnmarshalText([]byte(v.String())) != nil || got != v {
			t.Fatalf("bytes %d are written %v and read %d", v, v, got)
		}
		if v, got := sched.Bandwidth(n), sched.Bandwidth(-1); got.UnmarshalText([]byte(v.String())) != nil || got != v {
			t.Fatalf("bandwidth %d is written %v and read %d", v, v, got)
		}
	}
	for _, o := range sched.Objectives() {
		if got := sched.Objective(0); got.UnmarshalText([]byte(o.String())) != nil || got != o {
			t.Errorf("objective %v is read as %v", o, got)
		}
	}
	for p := sched.Train; p <= sched.Pause; p++ {
		if got := sched.Phase(9); got.UnmarshalText([]byte(p.String())) != nil || got != p {
			t.Errorf("phase %v is read as %v", p, got)
		}
	}
}
