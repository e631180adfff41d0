package sched

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/internal/strictjson"
)

// anySchedule draws a schedule with whatever the type can say, sense or none.
func anySchedule(r *rand.Rand) *Schedule {
	size := func() int64 { return r.Int64() >> r.IntN(64) }
	number := func() int64 { less := size(); return size() - less }
	list := func() (l []int) {
		for range r.IntN(3) {
			l = append(l, int(number()))
		}
		return l
	}
	classes := []Class{{Kind: N}, {Kind: N, Slotted: true}, {Kind: E}, {Kind: M, Slotted: true}, {Kind: S}}
	s := &Schedule{Class: classes[r.IntN(len(classes))]}
	for range r.IntN(40) {
		seg := Segment{Job: JobID(number()), Start: Time(number()), Phase: Phase(r.IntN(3))}
		seg.End = seg.Start + Time(number())
		for range r.IntN(3) {
			share := Share{Server: int(number()), GPUs: int(number())}
			if r.IntN(2) == 0 {
				share.Stages, share.Devices = list(), list()
			}
			seg.Place.Shares = append(seg.Place.Shares, share)
		}
		if r.IntN(3) == 0 {
			seg.Place.Config = &Config{WorkerType: int(number()), ServerType: int(number()), Accumulation: int(number())}
		}
		s.Segments = append(s.Segments, seg)
	}
	return s
}

// TestPack: a packed schedule is the schedule, as its JSON is, and no part of it is.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0x9ac4))
	for range 400 {
		s := anySchedule(r)
		packed := s.Pack()
		got, err := Unpack(packed)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		if !reflect.DeepEqual(got, s) {
			t.Fatalf("%+v\nbecame\n%+v", s, got)
		}
		cut := packed[:r.IntN(len(packed))]
		if s, err := Unpack(cut); err == nil {
			t.Fatalf("%d of %d bytes are %+v", len(cut), len(packed), s)
		}
		if s, err := Unpack(append(packed, 0)); err == nil {
			t.Fatalf("a byte too many, and it is %+v", s)
		}
	}
}

// TestPackIsWhatJSONSays: with every list empty rather than nil both forms say the same.
func TestPackIsWhatJSONSays(t *testing.T) {
	s := &Schedule{Class: Class{Kind: N}, Segments: []Segment{{Job: 1, Start: 2, End: 3, Place: Placement{
		Shares: []Share{{Server: 4, GPUs: 5, Stages: []int{}, Devices: []int{}}, {Server: 6, Stages: []int{}}}}}}}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var want Schedule
	if err := strictjson.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if got, err := Unpack(s.Pack()); err != nil || !reflect.DeepEqual(got, &want) {
		t.Errorf("%+v, %v; JSON says %+v", got, err, &want)
	}
}

func TestUnpackRefuses(t *testing.T) {
	head := []byte{packedFormat, 1, 'N'}
	for name, data := range map[string][]byte{
		"nothing":                        nil,
		"another format":                 {2, 1, 'N', 0},
		"an unknown class":               {packedFormat, 1, 'Q', 0},
		"more segments than bytes":       append(head, 0xff, 0xff, 0xff, 0xff, 0xf),
		"an unknown phase":               append(head, 1, 3|packedOne, 0, 0, 0, 0, 0),
		"an unknown bit":                 append(head, 1, 16|packedOne, 0, 0, 0, 0, 0),
		"a single share, written longer": append(head, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0),
		"more shares than bytes":         append(head, 1, 0, 0, 0, 0, 0xff, 0xff, 0x7f),
		"more stages than bytes":         append(head, 1, 0, 0, 0, 0, 1, 0, 0, 0x7f),
	} {
		if s, err := Unpack(data); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := Unpack(append(head, 1, packedOne, 0, 0, 0, 0, 0)); err != nil {
		t.Errorf("one segment: %v", err)
	}
}

// FuzzUnpack: whatever is read is written again byte for byte, so that one schedule has one
// packed form.
func FuzzUnpack(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 0x9ac4))
	for range 10 {
		f.Add(anySchedule(r).Pack())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Unpack(data); err == nil && !bytes.Equal(s.Pack(), data) {
			t.Errorf("%x is written as %x", data, s.Pack())
		}
	})
}

func BenchmarkPack(b *testing.B) {
	s := &Schedule{Class: Class{Kind: N}}
	r := rand.New(rand.NewPCG(3, 0x9ac4))
	for i := range 100_000 {
		start := Time(i) * Second
		s.Segments = append(s.Segments, Segment{Job: JobID(i), Start: start, End: start + Time(r.IntN(1e9)), Place: Placement{Shares: []Share{{Server: r.IntN(250), GPUs: 1}}}})
	}
	packed := s.Pack()
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			_ = s.Pack()
		}
		b.ReportMetric(float64(len(packed))/float64(len(s.Segments)), "bytes/segment")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := Unpack(packed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
