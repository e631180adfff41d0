package library

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/sched/verify"
)

const day = "2026-01-01"

// quick are methods that are done with a few jobs at once.
var quick = []string{"bracket", "lns", "elastic-fifo", "elastic-drf", "sharing-sjf", "sharing-fifo", "elastic-alone", "theta-lb0", "theta-srpt", "lb0"}

// inProcess runs the quick methods without children.
func inProcess(ctx context.Context, m bench.Method, in *sched.Instance, o sched.Objective) (*bench.Outcome, error) {
	if !slices.Contains(quick, m.Ref().Name) {
		return nil, errors.New("left to the command's tests")
	}
	out, err := m.Run(ctx, bench.Problem{Instance: in, Objectives: []sched.Objective{o}, Seed: 1, Limits: suite.Limits{Nodes: 20_000}})
	if err != nil {
		return nil, err
	}
	return &out[0], nil
}

// small returns a library of one entry of each model with a few jobs.
func small(t *testing.T) *Library {
	t.Helper()
	l := &Library{Dir: t.TempDir()}
	for _, s := range Strata() {
		if s.Least != 5 {
			continue
		}
		s.Instances, s.Candidates = 1, 12
		chosen, err := s.Choose(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if added, err := l.Add(s, chosen); err != nil || added != 1 {
			t.Fatal(added, err)
		}
	}
	return l
}

func entries(t *testing.T, l *Library) []*Entry {
	t.Helper()
	all, err := l.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ignore(int, int) {}

// TestImprove: from nothing, both sides of every model are found, verified and kept; a
// second search keeps them; and what is read again is what was found.
func TestImprove(t *testing.T) {
	l := small(t)
	m := &Improver{Library: l, Effort: 1, Seed: 1, Day: day, Run: inProcess, Nodes: 10_000}
	for _, e := range entries(t, l) {
		c, err := m.Improve(t.Context(), e)
		if err != nil {
			t.Fatal(e.Name, err)
		}
		if !c.Schedule || !c.Bound && !c.Proof {
			t.Fatalf("%s: %+v", e.Name, c)
		}
		again, err := l.Entry(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Standing(again)
		if err != nil {
			t.Fatal(err)
		}
		if s.Cost().Cmp(c.After.Cost()) != 0 || s.Bound.Cmp(c.After.Bound) != 0 || s.Proven != c.After.Proven {
			t.Errorf("%s: read again: cost %v, bound %v", e.Name, s.Cost(), s.Bound)
		}
		if c, err = m.Improve(t.Context(), again); err != nil || c.Schedule || c.Before.Optimal() && c.Bound {
			t.Errorf("%s: the same search improves on itself: %+v, %v", e.Name, c, err)
		}
		t.Logf("%s: %s", e.Name, s.Status())
	}
	r, err := l.Check(t.Context(), entries(t, l), 2, ignore)
	if err != nil || len(r.Failed) > 0 || len(r.Rows) != 4 {
		t.Fatal(r, err)
	}
	if extra, err := l.Extra(entries(t, l)); err != nil || len(extra) > 0 {
		t.Error(extra, err)
	}
}

// TestImproveWithoutSearch: where no search ends in time, a policy's schedule and a closed
// bound are both sides.
func TestImproveWithoutSearch(t *testing.T) {
	l := &Library{Dir: t.TempDir()}
	s := Strata()[0]
	s.Instances, s.Candidates = 1, 8
	chosen, err := s.Choose(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Add(s, chosen); err != nil {
		t.Fatal(err)
	}
	var tried []string
	m := &Improver{Library: l, Effort: 1, Seed: 1, Day: day, Run: func(ctx context.Context, m bench.Method, in *sched.Instance, o sched.Objective) (*bench.Outcome, error) {
		tried = append(tried, m.Ref().Name)
		if !slices.Contains([]string{"sjf", "srpt-ranked", "area", "lb0"}, m.Ref().Name) {
			return nil, errors.New("killed after 1s")
		}
		out, err := m.Run(ctx, bench.Problem{Instance: in, Objectives: []sched.Objective{o}, Seed: 1})
		if err != nil {
			return nil, err
		}
		return &out[0], nil
	}}
	c, err := m.Improve(t.Context(), entries(t, l)[0])
	if err != nil || !c.Schedule || !c.Bound {
		t.Fatalf("%+v, %v, after %v", c, err, tried)
	}
	if n := len(tried); tried[n-1] != "sjf" {
		t.Errorf("tried %v: nothing after the first schedule", tried)
	}
}

// gangLibrary has one improved entry of gangs.
func gangLibrary(t *testing.T) (*Library, *Entry) {
	t.Helper()
	l := &Library{Dir: t.TempDir()}
	s := Strata()[0]
	s.Instances, s.Candidates = 1, 8
	chosen, err := s.Choose(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Add(s, chosen); err != nil {
		t.Fatal(err)
	}
	e := entries(t, l)[0]
	m := &Improver{Library: l, Effort: 1, Seed: 1, Day: day, Run: inProcess, Nodes: 10_000}
	if _, err := m.Improve(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return l, e
}

// TestDamage: whatever is changed in a file of an entry, no value comes of it.
func TestDamage(t *testing.T) {
	l, e := gangLibrary(t)
	if e.Proof == nil {
		t.Fatal("there is no proof")
	}
	for _, name := range []string{entryName, scheduleName, proofName} {
		path := l.path(e.Name, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damages := [][]byte{nil, whole[:len(whole)/2], append(slices.Clone(whole[:len(whole)-9]), whole[len(whole)-8:]...)}
		if name == entryName {
			damages = append(damages, bytes.Replace(whole, []byte(`"objective": "`), []byte(`"objective": "x`), 1), bytes.Replace(whole, []byte(e.Instance), []byte(strings.Repeat("0", 64)), 1),
				bytes.Replace(whole, []byte(e.Schedule.SHA256), []byte(strings.Repeat("0", 64)), 1), bytes.Replace(whole, []byte(`"seed": 5`), []byte(`"seed": 6`), 1))
		}
		for i, damaged := range damages {
			if bytes.Equal(damaged, whole) {
				t.Fatalf("%s: damage %d is none", name, i)
			}
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			read, err := l.Entry(e.Name)
			if err == nil {
				_, err = l.Standing(read)
			}
			if err == nil {
				t.Errorf("%s: damage %d shows a value", name, i)
			}
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Standing(e); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"../x", "", "A", "a/b", strings.Repeat("a", 90)} {
		if _, err := l.Entry(name); err == nil {
			t.Errorf("%q names an entry", name)
		}
	}
}

// worse returns a valid schedule of the entry that costs more than the best: each job runs
// after the last.
func worse(t *testing.T, s *Standing) *sched.Schedule {
	t.Helper()
	out := &sched.Schedule{Class: s.Schedule.Class(), Segments: slices.Clone(s.Schedule.Schedule().Segments)}
	shift := s.Schedule.Makespan()
	for i := range out.Segments { // all later, by as much as the whole takes
		out.Segments[i].Start += shift
		out.Segments[i].End += shift
	}
	if _, err := verify.Check(s.Instance, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSubmit: a better schedule is taken under its author's name, the same one again, a
// worse one, a false one and a strange one are not.
func TestSubmit(t *testing.T) {
	l, e := gangLibrary(t)
	best, err := l.Standing(e)
	if err != nil {
		t.Fatal(err)
	}
	bad := worse(t, best)
	dir := t.TempDir()
	put := func(name string, write func(*bytes.Buffer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The library forgets its schedule, and has a bad one.
	v, err := verify.Check(best.Instance, bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.keepSchedule(e, v, "nobody", day); err != nil {
		t.Fatal(err)
	}
	if err := l.write(e); err != nil {
		t.Fatal(err)
	}
	put("1-same.json", func(b *bytes.Buffer) error { return bad.Write(b, best.Instance) })
	put("2-better.json", func(b *bytes.Buffer) error { return best.Schedule.Schedule().Write(b, best.Instance) })
	put("3-again.json", func(b *bytes.Buffer) error { return best.Schedule.Schedule().Write(b, best.Instance) })
	early := &sched.Schedule{Class: bad.Class, Segments: slices.Clone(best.Schedule.Schedule().Segments)}
	for i := range early.Segments {
		early.Segments[i].End = early.Segments[i].Start + 1
	}
	put("4-false.json", func(b *bytes.Buffer) error { return early.Write(b, best.Instance) })
	other := *best.Instance
	other.Jobs = slices.Clone(other.Jobs)
	other.Jobs[0].Iters++
	put("5-strange.json", func(b *bytes.Buffer) error { return best.Schedule.Schedule().Write(b, &other) })
	put("6-broken.json", func(b *bytes.Buffer) error { b.WriteString(`{"segments": [`); return nil })
	put("7-list.json", func(b *bytes.Buffer) error { b.WriteString(`{"segments": [], "instance_sha256": 5}`); return nil })
	put("8-other.json", func(b *bytes.Buffer) error { b.WriteString(`{"jobs": []}`); return nil })
	put("9.cert", func(b *bytes.Buffer) error { b.WriteString("x"); return nil })
	if err := os.Symlink(filepath.Join(dir, "2-better.json"), filepath.Join(dir, "0-link.json")); err != nil {
		t.Fatal(err)
	}
	list, err := l.Submit(t.Context(), dir, "A. Reader", day)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range list {
		word := "no"
		if v.Accepted {
			word = "yes"
		}
		got = append(got, v.File+" "+word)
	}
	want := []string{"1-same.json no", "2-better.json yes", "3-again.json no", "4-false.json no", "5-strange.json no", "6-broken.json no", "7-list.json no", "9.cert no"}
	if !slices.Equal(got, want) {
		t.Fatalf("%q, want %q: %+v", got, want, list)
	}
	read, err := l.Entry(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	now, err := l.Standing(read)
	if err != nil || read.Schedule.By != "A. Reader" || now.Cost().Cmp(best.Cost()) != 0 {
		t.Error(read.Schedule, err)
	}
	for _, by := range []string{"", "a\nb", "\x1b[31m", strings.Repeat("x", 300)} {
		if _, err := l.Submit(t.Context(), dir, by, day); err == nil {
			t.Errorf("by %q was taken", by)
		}
	}
}

// TestSubmitEvidence: certificates and proofs that a fetched entry has are taken by a
// library that has none, and by no other instance's.
func TestSubmitEvidence(t *testing.T) {
	l, e := gangLibrary(t)
	files, err := l.Files(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := l.Standing(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Proof, e.Bound, e.Schedule = nil, nil, nil
	if err := l.write(e); err != nil {
		t.Fatal(err)
	}
	list, err := l.Submit(t.Context(), dir, "A. Reader", day)
	if err != nil {
		t.Fatal(err)
	}
	if e, err = l.Entry(e.Name); err != nil {
		t.Fatal(err)
	}
	after, err := l.Standing(e)
	if err != nil || after.Cost().Cmp(before.Cost()) != 0 || after.Bound.Cmp(before.Bound) != 0 || after.Proven != before.Proven || !after.Proven {
		t.Errorf("%+v, %v: %+v", after, err, list)
	}
}

// TestVersion: a version names its instances, and a changed or missing one is found.
func TestVersion(t *testing.T) {
	l, e := gangLibrary(t)
	all := entries(t, l)
	if _, err := l.Version(all); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	v, err := l.Freeze(all)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Version(entries(t, l)); err != nil || got.Digest != v.Digest {
		t.Error(got, err)
	}
	if _, err := l.Freeze(all); err == nil {
		t.Error("a version was replaced")
	}
	changed := *e
	changed.Objective = sched.Makespan
	if e.Objective == sched.Makespan {
		changed.Objective = sched.TotalJCT
	}
	if _, err := l.Version([]*Entry{&changed}); err == nil {
		t.Error("an entry was changed, and nobody minds")
	}
	if _, err := l.Version(nil); err == nil {
		t.Error("an entry is missing, and nobody minds")
	}
	path := filepath.Join(l.Dir, VersionName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(e.Name), []byte(e.Name+"0"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Version(all); err == nil {
		t.Error("a line was changed, and nobody minds")
	}
}

// The choice is one of the candidates' and the seed's: it does not depend on their order
// but for ties, and covers them at most twice as badly as the best choice.
func TestFarthest(t *testing.T) {
	var all []Candidate
	for _, jobs := range []int{10, 11, 12, 100, 101, 1000, 10_000} {
		all = append(all, Candidate{Objective: sched.TotalJCT, Features: Features{Jobs: jobs, GPUs: 1}})
	}
	cover := func(chosen []int) float64 {
		far := 0.0
		for i := range all {
			near := math.Inf(1)
			for _, k := range chosen {
				near = min(near, distance(all[i].point(), all[k].point()))
			}
			far = max(far, near)
		}
		return far
	}
	for n := 1; n <= len(all); n++ {
		best := math.Inf(1)
		for set := range 1 << len(all) {
			var list []int
			for i := range all {
				if set>>i&1 == 1 {
					list = append(list, i)
				}
			}
			if len(list) == n {
				best = min(best, cover(list))
			}
		}
		var got []int
		for _, c := range farthest(all, n) {
			got = append(got, slices.IndexFunc(all, func(x Candidate) bool { return x.Features.Jobs == c.Features.Jobs }))
		}
		slices.Sort(got)
		if len(slices.Compact(slices.Clone(got))) != n || n > 1 && cover(got) > 2*best+1e-9 {
			t.Errorf("%d: %v covers within %v, the best within %v", n, got, cover(got), best)
		}
	}
}

// TestScores holds the protocol's numbers against those of hand.
func TestScores(t *testing.T) {
	if got := ShiftedMean([]float64{0, 0, 0}); got != 0 || math.Signbit(got) {
		t.Error(got)
	}
	if got, want := ShiftedMean([]float64{0, 0.03}), 0.01; math.Abs(got-want) > 1e-12 { // √(0.01·0.04) − 0.01
		t.Error(got, want)
	}
	if !math.IsNaN(ShiftedMean(nil)) {
		t.Error("a mean of nothing")
	}
	one := func(cost, best, bound int64, suits bool) Run {
		r := Run{Best: big.NewRat(best, 1), Bound: big.NewRat(bound, 1), Suits: suits}
		if cost > 0 {
			r.Cost = big.NewRat(cost, 1)
		}
		return r
	}
	s := Summarize([]Run{one(10, 10, 10, true), one(11, 10, 10, true), one(0, 10, 5, true), one(20, 10, 5, false)})
	if s.Counted != 3 || s.Failed != 1 || s.Profile[0] != 1.0/3 || math.Abs(s.Profile[4]-2.0/3) > 1e-12 || s.Profile[len(s.Profile)-1] != 2.0/3 {
		t.Errorf("%+v", s)
	}
	if s.AtLeast > s.AtMost+1e-12 {
		t.Errorf("at least %v, at most %v", s.AtLeast, s.AtMost)
	}
	gap := func(v float64) record.Opt[float64] { return record.Some(v) }
	b := Sum([]record.LibraryRow{{Status: StatusOptimal, Gap: gap(0), Jobs: 5}, {Status: StatusOpen, Gap: gap(0.5), Jobs: 5}, {Status: StatusPartial, Jobs: 5000}})
	if b.Median != 0.5 || b.MedianTo1000 != 0 || b.Optimal != 1 || b.Open != 1 || b.Partial != 1 {
		t.Errorf("%+v", b)
	}
}
