package sched_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"yardstick/sched"
)

func TestInstanceRoundTrip(t *testing.T) {
	for _, in := range []*sched.Instance{gang(), graph(), preemptive(), sharing(), elastic()} {
		var b bytes.Buffer
		if err := in.Write(&b); err != nil {
			t.Fatalf("%s: %v", in.Name, err)
		}
		text := b.String()
		got, err := sched.ReadInstance(&b)
		if err != nil || !reflect.DeepEqual(got, in) {
			t.Fatalf("%s: read %+v, %v\nfrom %s", in.Name, got, err, text)
		}
		if got.Hash() != in.Hash() {
			t.Errorf("%s: the hash changed", in.Name)
		}
	}
}

func TestReadInstanceErrors(t *testing.T) {
	var b bytes.Buffer
	if err := gang().Write(&b); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	lineOf := func(text, part string) int {
		return 1 + strings.Count(text[:strings.Index(text, part)], "\n")
	}
	tests := []struct {
		old, new string
		at       string // a text that stands in the line to be named; "" if none is
		want     string
	}{
		{`"model"`, `"Modell"`, `"Modell"`, `unknown key Modell`},
		{`"weight": 2`, `"weight": 2, "wait": 3`, `"wait"`, `unknown key jobs[1].wait`},
		{`"replicas": 2`, `"stages": 2`, `"stages": 2`, `unknown key jobs[0].stages[0].stages`},
		{`"compute": "1s"`, `"compute": "1 parsec"`, `"1 parsec"`, `"1 parsec" is not a duration`},
		{`"release": "5s"`, `"release": "5"`, `"release": "5"`, `"5" is not a time`},
		{`"release": "5s"`, `"release": 5`, `"release": 5`, "jobs[0].release cannot be a number"},
		{`"iters": 7`, `"iters": 7.5`, `7.5`, "jobs[1].iters cannot be a number 7.5"},
		{`"iters": 7`, `"iters": 1e30`, `1e30`, "jobs[1].iters cannot be a number 1e30"},
		{`"iters": 7`, `"iters": "7"`, `"7"`, "jobs[1].iters cannot be a text"},
		{`"inter": "10Gbps"`, `"inter": "10Gb"`, `"10Gb"`, `"10Gb" is not a bandwidth`},
		{`"iters": 7`, `"iters" 7`, `"iters" 7`, "invalid character '7'"},
		{"\n}\n", "\n", "", "the JSON ends too early"},
		{"\n}\n", "\n}}\n", "", "more after the JSON value"},
		{"\n}\n", "\n}]\n", "", "more after the JSON value"},
		{"\n}\n", "\n} {}\n", "", "more after the JSON value"},
		{`"iters": 7`, `"iters": 0`, "", `instance "gang": jobs[1] "": iters is 0`},
	}
	for _, test := range tests {
		if !strings.Contains(good, test.old) {
			t.Fatalf("%s does not occur in\n%s", test.old, good)
		}
		text := strings.Replace(good, test.old, test.new, 1)
		_, err := sched.ReadInstance(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.new, err, test.want)
			continue
		}
		if test.at == "" {
			continue
		}
		line, _, _ := strings.Cut(err.Error(), ":")
		if want := fmt.Sprint("line ", lineOf(text, test.at)); line != want {
			t.Errorf("%s: error %q, want %s of\n%s", test.new, err, want, text)
		}
	}
	if _, err := sched.ReadInstance(strings.NewReader("")); err == nil || err.Error() != "line 1: the JSON ends too early" {
		t.Errorf("empty file: %v", err)
	}
}

func TestScheduleRoundTrip(t *testing.T) {
	in := sharing()
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S, Slotted: true}, Segments: []sched.Segment{
		{Job: 1, Start: 7, End: sched.MaxTime, Place: sched.Placement{Shares: []sched.Share{{Server: 1, GPUs: 1, Devices: []int{3}}}, Config: &sched.Config{Accumulation: 2}}},
		{Job: 0, Start: 7, End: 9, Phase: sched.Load, Place: sched.Placement{Shares: []sched.Share{on(0, 1, 0), on(1, 1, 1)}}},
		{Job: 1, Start: 5, End: 7, Phase: sched.Pause, Place: sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 1}}}},
	}}
	s.Sort()
	for i, want := range []sched.Time{7, 9, sched.MaxTime} {
		if s.Segments[i].End != want {
			t.Errorf("segment %d of the sorted schedule ends at %v, want %v", i, s.Segments[i].End, want)
		}
	}
	for _, s := range []*sched.Schedule{s, {Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{}}} {
		var b bytes.Buffer
		if err := s.Write(&b, in); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if lines := strings.Count(text, "\n"); lines != 7+len(s.Segments) && lines != 7 {
			t.Errorf("%d lines for %d segments:\n%s", lines, len(s.Segments), text)
		}
		got, hash, err := sched.ReadSchedule(&b)
		if err != nil || hash != in.Hash() || !reflect.DeepEqual(got, s) {
			t.Fatalf("read %+v, %q, %v from\n%s", got, hash, err, text)
		}
	}
	text := "{\"instance_sha256\": \"\",\n\"class\": \"S\",\n\"segments\": [\n{\"job\": 0,\n\"phase\": \"wait\"}]}"
	if _, _, err := sched.ReadSchedule(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), `line 5: segments[0].phase: phase "wait"`) {
		t.Errorf("unknown phase: %v", err)
	}
	text = strings.Replace(text, `"S"`, `"X"`, 1)
	if _, _, err := sched.ReadSchedule(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), `line 2: class: class "X"`) {
		t.Errorf("unknown class: %v", err)
	}
}

// TestHash pins the hash: results refer to instances by it.
func TestHash(t *testing.T) {
	golden := map[string]string{
		"gang":       "d29995b000e98db91a0abd9473e1d824e42a3d0e1664f3ea172fe51fe3b553a6",
		"graph":      "ade602648b8da5e3b25d692b488b7155b331299bd0f1c190bc69f066f00b1d74",
		"preemptive": "213301c35b4c0000707b9b4615421a2d4023b8a2fa7cbf67707cd34cd505306d",
		"sharing":    "ae700d7e46bfdad63ee1805cc85c7846596c1ab909f426e435680c44fcb70f1e",
		"elastic":    "33806b62ebc111a0be32b51027fd78cf6cd67dc39665f7c6666f52818102c8b9",
	}
	for _, in := range []*sched.Instance{gang(), graph(), preemptive(), sharing(), elastic()} {
		name := in.Name
		hash := in.Hash()
		if hash != golden[name] {
			t.Errorf("hash of %s is %s, was %s", name, hash, golden[name])
		}
		in.Name = "another"
		if in.Hash() != hash {
			t.Errorf("the hash of %s depends on its name", name)
		}
		compact, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		read, err := sched.ReadInstance(bytes.NewReader(compact))
		if err != nil || read.Hash() != hash {
			t.Errorf("the hash of %s depends on the formatting (%v)", name, err)
		}
		in.Jobs[0].Release++
		if in.Hash() == hash {
			t.Errorf("the hash of %s does not depend on a release", name)
		}
	}
}
