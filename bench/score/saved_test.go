package score

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// What was scored is read back as it counts, at every level of evidence, with the same cost and
// bounds, and so is what a tolerance has changed.
func TestSavedRoundTrip(t *testing.T) {
	ctx := context.Background()
	kept := map[Evidence]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 21))
		jobs, cluster, record := savedDraw(r)
		tolerance := sched.Time(r.IntN(2))
		c, err := Check(jobs, cluster, record, Options{Tolerance: tolerance})
		if err != nil {
			t.Fatal(err)
		}
		if c.Broken > 0 {
			continue
		}
		kept[c.Evidence]++
		var b bytes.Buffer
		if err := (&Saved{Name: "x", Checked: c}).Write(&b); err != nil {
			t.Fatal(err)
		}
		if !IsSaved(b.Bytes()) {
			t.Fatal("not known again")
		}
		back, err := ReadSaved(b.Bytes())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, b.String())
		}
		if back.Name != "x" || back.Checked.Class != c.Class || !reflect.DeepEqual(back.Checked.Ends, c.Ends) || !reflect.DeepEqual(back.Checked.Jobs, c.Jobs) {
			t.Fatalf("seed %d: %+v\nbecame %+v", seed, c, back.Checked)
		}
		one, err1 := Divide(ctx, c, sched.TotalJCT)
		two, err2 := Divide(ctx, back.Checked, sched.TotalJCT)
		if err1 != nil || err2 != nil || one[0].Cost.Cmp(two[0].Cost) != 0 || one[0].Best.Value.Cmp(two[0].Best.Value) != 0 {
			t.Fatalf("seed %d: %v, %v", seed, err1, err2)
		}
		p, err := c.Pooled()
		if err != nil {
			t.Fatal(err)
		}
		if p.Schedule == nil {
			continue
		}
		v, err := verify.Check(p.Instance, p.Schedule)
		if err != nil || v.Cost(sched.TotalJCT).Cmp(one[0].Cost) != 0 {
			t.Fatalf("seed %d: pooled: %v", seed, err)
		}
	}
	for e := Completions; e <= Placements; e++ {
		if kept[e] < 5 {
			t.Errorf("%d of %v: the test has lost its subject", kept[e], e)
		}
	}
}

// savedDraw draws jobs that run one after the other, some in two pieces.
func savedDraw(r *rand.Rand) ([]Job, Cluster, Record) {
	c := Cluster{GPUs: 2 * Milli, Servers: []int{2}}
	record := Record{Evidence: Completions + Evidence(r.IntN(3))}
	var jobs []Job
	at := sched.Time(r.IntN(9) - 4)
	for j := range 1 + r.IntN(5) {
		length := 2 + sched.Time(r.IntN(9))
		jobs = append(jobs, Job{Name: "job", User: "ann", Release: at, Length: length, GPUs: Milli * (1 + r.Int64N(2)), Weight: 1})
		cuts := []sched.Time{at, at + length}
		if record.Evidence != Completions && r.IntN(3) == 0 {
			cuts = []sched.Time{at, at + 1, at + 1, at + length + 1}
			cuts[2] = cuts[1] + 1
		}
		for k := 0; k < len(cuts); k += 2 {
			p := Piece{Job: j, Start: cuts[k], End: cuts[k+1]}
			if record.Evidence == Placements {
				p.Parts = []Part{{Server: 0, GPUs: int(jobs[j].GPUs / Milli)}}
			}
			record.Pieces = append(record.Pieces, p)
		}
		at = cuts[len(cuts)-1]
	}
	return jobs, c, record
}

// A schedule with its instance comes back too.
func TestSavedVerified(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 22))
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 4, Servers: 2, GPUs: 2, Stages: 1})
		v := schedtest.Verify(t, in, schedtest.RandomSchedule(r, in))
		var b bytes.Buffer
		if err := (&Saved{Verified: v}).Write(&b); err != nil {
			t.Fatal(err)
		}
		back, err := ReadSaved(b.Bytes())
		if err != nil || back.Verified.Cost(sched.TotalJCT).Cmp(v.Cost(sched.TotalJCT)) != 0 {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// A file that was changed is refused in one line, or what it says is checked.
func TestSavedDamaged(t *testing.T) {
	c, err := Check([]Job{{Name: "a", Length: 5, GPUs: Milli, Weight: 1}}, Cluster{GPUs: Milli}, Record{Evidence: Intervals, Pieces: []Piece{{End: 5}}}, Options{})
	if err != nil || c.Broken > 0 {
		t.Fatal(err, c)
	}
	var b bytes.Buffer
	if err := (&Saved{Name: "x", Checked: c}).Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for name, pair := range map[string][2]string{
		"format":   {"score/1", "score/9"},
		"key":      {`"evidence"`, `"Evidence"`},
		"evidence": {"intervals", "rumours"},
		"short":    {`"end":"5µs"`, `"end":"4µs"`},
		"length":   {`"length":"5µs"`, `"length":"-5µs"`},
		"weight":   {`"weight":1`, `"weight":0`},
		"gang":     {`"gpus":1000,"jobs"`, `"gpus":500,"jobs"`},
		"gpus":     {`"gpus":1000,"jobs"`, `"gpus":9000000000000000000,"jobs"`},
		"job":      {`"job":0`, `"job":7`},
		"late":     {`"end":"5µs"`, `"end":"9000000000s"`},
		"capacity": {`"jobs"`, `"capacity":[{"at":0,"gpus":2000}],"jobs"`},
		"servers":  {`"jobs"`, `"servers":[-1],"jobs"`},
		"instance": {`"jobs"`, `"instance":{},"schedule":{},"jobs"`},
		"torn":     {`}]}`, ``},
	} {
		changed := strings.Replace(text, pair[0], pair[1], 1)
		if changed == text {
			t.Fatalf("%s: %q is not in %s", name, pair[0], text)
		}
		if _, err := ReadSaved([]byte(changed)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
