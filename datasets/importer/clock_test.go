package importer

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestClockAgainstTheStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	zone := time.FixedZone("", -8*3600)
	for range 20000 {
		at := time.Unix(rng.Int64N(7258118400), rng.Int64N(4)*250e6).UTC()
		for layout, clock := range map[string]Clock{time.DateTime: {}, "2006-01-02T15:04:05.999999999Z07:00": {}, "2006-01-02 15:04:05.000-0700": {Zone: zone}} {
			text := at.In(time.FixedZone("", 60*(rng.IntN(1600)-800))).Format(layout)
			want, err := time.Parse(layout, text)
			if err != nil {
				t.Fatal(err)
			}
			if want.Year() < 1970 || want.Year() > 2199 {
				continue
			}
			got, err := clock.Parse([]byte(text))
			if err != nil || got != want.UnixNano() {
				t.Fatalf("%s is read as %d, not %d: %v", text, got, want.UnixNano(), err)
			}
		}
	}
}

func TestClockZone(t *testing.T) {
	const text = "2017-10-09 07:01:55"
	pacific := time.FixedZone("", -7*3600)
	if got, err := (Clock{Zone: pacific}).Parse([]byte(text)); err != nil || got != time.Date(2017, 10, 9, 7, 1, 55, 0, pacific).UnixNano() {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := (Clock{Zone: pacific}).Parse([]byte(text + "+00:00")); err != nil || got != time.Date(2017, 10, 9, 7, 1, 55, 0, time.UTC).UnixNano() {
		t.Errorf("a date with its own zone: %d, %v", got, err)
	}
}

func TestClockErrors(t *testing.T) {
	for _, bad := range []string{"", "2017-10-09", "09.10.2017 07:01:55", "2017-02-29 00:00:00", "2017-13-01 00:00:00", "2017-00-01 00:00:00", "2017-01-00 00:00:00",
		"2017-01-01 24:00:00", "2017-01-01 00:60:00", "2017-01-01 00:00:60", "1969-12-31 23:59:59", "2200-01-01 00:00:00", "2017-01-01 00:00:00.", "2017-01-01 00:00:00+1",
		"2017-01-01 00:00:00+25:00", "2017-01-01 00:00:00 PST", "2017-01-01 00:00:00+08:0x", "2017-01-01 00:00:0x", "20x7-01-01 00:00:00"} {
		if got, err := (Clock{}).Parse([]byte(bad)); err == nil {
			t.Errorf("%q is read as %d", bad, got)
		}
	}
}
