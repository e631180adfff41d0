package forest

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

func past(user, group string, iters ...int64) []sched.PastJob {
	var jobs []sched.PastJob
	for _, n := range iters {
		jobs = append(jobs, sched.PastJob{User: user, Group: group, Gang: 1, Iters: n})
	}
	return jobs
}

func ask(t *testing.T, p *Predictor, user, group string, gang int) int64 {
	t.Helper()
	n, err := p.Predict(user, group, gang)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func must(t *testing.T, p *Predictor, err error) *Predictor {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestForestPredictor: jobs of unseen groups or of none get 0, constant groups
// their constant, and users and gangs tell jobs of a group apart.
func TestForestPredictor(t *testing.T) {
	var history []sched.PastJob
	for g := range 30 {
		for range 12 { // twelve: that a tree draws none of them has chance e⁻¹²
			history = append(history, past("u", fmt.Sprintf("g%02d", g), int64(100*g+50))...)
		}
	}
	history = append(history, past("u", "", 1_000_000, 1_000_000)...)
	p, err := NewForest(history, ForestOptions{})
	must(t, p, err)
	for g := range 30 {
		if got, want := ask(t, p, "u", fmt.Sprintf("g%02d", g), 1), int64(100*g+50); got != want {
			t.Errorf("group %d: %d, want %d", g, got, want)
		}
	}
	for _, group := range []string{"", "g", "g30", "g000"} {
		if got := ask(t, p, "u", group, 1); got != 0 {
			t.Errorf("unseen group %q: %d, want 0", group, got)
		}
	}
	if p.Name() != "forest" || p.Trainings() != 1 {
		t.Errorf("%s after %d trainings", p.Name(), p.Trainings())
	}

	var mixed []sched.PastJob
	for range 40 {
		mixed = append(mixed, past("a", "g", 10)...)
		mixed = append(mixed, past("b", "g", 500)...)
		mixed = append(mixed, sched.PastJob{User: "b", Group: "g", Gang: 8, Iters: 900})
	}
	p, err = NewForest(mixed, ForestOptions{Gang: true})
	must(t, p, err)
	// The new user is the ordinal −1, on the side of a.
	for _, c := range []struct {
		user string
		gang int
		want int64
	}{{"a", 1, 10}, {"b", 1, 500}, {"b", 8, 900}, {"b", 64, 900}, {"z", 1, 10}} {
		if got := ask(t, p, c.user, "g", c.gang); got != c.want {
			t.Errorf("user %s, %d GPUs: %d, want %d", c.user, c.gang, got, c.want)
		}
	}
	p, err = NewForest(mixed, ForestOptions{})
	must(t, p, err)
	if got := ask(t, p, "b", "g", 8); got < 600 || got > 800 || got != ask(t, p, "b", "g", 1) {
		t.Errorf("without the gang: %d, want about 700 for any", got)
	}
}

// TestRetraining: what was due when is learnt, and nothing else. The mean over
// all shows how many jobs were learnt.
func TestRetraining(t *testing.T) {
	one := func(n int64) sched.PastJob { return past("u", "g", n)[0] }
	learnt := func(p *Predictor) int64 { return ask(t, p, "u", "g", 1) }
	history := past("u", "g", 0, 0, 0, 0)

	p, err := NewMean(history, Overall, Retraining{})
	must(t, p, err)
	for range 100 {
		p.Observe(one(1000))
	}
	p.Advance(sched.MaxTime)
	if got := learnt(p); got != 0 || p.Trainings() != 1 {
		t.Errorf("never: %d after %d trainings", got, p.Trainings())
	}

	p, err = NewMean(history, Overall, Retraining{Completions: 4})
	must(t, p, err)
	for i, want := range []int64{0, 0, 0, 500, 500, 500, 500, 667} {
		p.Observe(one(1000))
		if got := learnt(p); got != want {
			t.Errorf("completion %d: %d, want %d", i+1, got, want)
		}
	}
	if p.Trainings() != 3 {
		t.Errorf("%d trainings, want 3", p.Trainings())
	}
	for range 9 { // two trainings are due, but nobody asks in between
		p.Observe(one(1000))
	}
	if got := learnt(p); got != 800 || p.Trainings() != 4 { // 16,000/20: the 17th waits
		t.Errorf("after 9 more: %d after %d trainings", got, p.Trainings())
	}

	p, err = NewMean(history, Overall, Retraining{Period: 10})
	must(t, p, err)
	for _, c := range []struct {
		now  sched.Time
		want int64
	}{{0, 0}, {9, 0}, {9, 0}, {10, 429}, {11, 429}, {19, 429}, {35, 600}, {39, 600}, {40, 667}} {
		p.Advance(c.now)
		if got := learnt(p); got != c.want {
			t.Errorf("at %d: %d, want %d", c.now, got, c.want)
		}
		p.Observe(one(1000))
	}

	f, err := NewForest(nil, ForestOptions{Retraining: Retraining{Completions: 2}, Train: TrainOptions{Trees: 5}})
	must(t, f, err)
	want := []int64{0, 0, 300, 300, 300}
	for i, w := range want {
		if got := learnt(f); got != w {
			t.Errorf("forest after %d completions: %d, want %d", i, got, w)
		}
		f.Observe(one(300))
	}
	// A retrained forest is the one that is trained on everything at once.
	jobs := paiLike(t, 500, 2)
	o := ForestOptions{Train: TrainOptions{Trees: 7, Seed: 4}, Retraining: Retraining{Completions: 100}}
	a, err := NewForest(jobs[:200], o)
	must(t, a, err)
	b, err := NewForest(jobs[:400], o)
	must(t, b, err)
	for i, j := range jobs[200:] {
		if i < 250 { // the last 50 of these are not due
			a.Observe(j)
		}
		if n := ask(t, a, j.User, j.Group, j.Gang); i >= 250 && n != ask(t, b, j.User, j.Group, j.Gang) {
			t.Fatalf("job %d: %d, not as if trained at once", i, n)
		}
	}
}

func TestBadPredictors(t *testing.T) {
	for _, r := range []Retraining{{Completions: -1}, {Period: -1}} {
		if _, err := NewMean(nil, ByGroup, r); err == nil || !strings.Contains(err.Error(), "neither may be negative") {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := NewMedian(past("u", "g", -4), ByGroup, Retraining{}); err == nil || !strings.Contains(err.Error(), "took -4 iterations") {
		t.Errorf("negative history: %v", err)
	}
	p, err := NewForest(past("u", "g", 4), ForestOptions{Retraining: Retraining{Completions: 1}})
	must(t, p, err)
	p.Observe(past("u", "g", math.MaxInt64)[0])
	if _, err := p.Predict("u", "g", 1); err == nil || !strings.Contains(err.Error(), "fit 64 bits") {
		t.Errorf("overflow: %v", err)
	}
}

// TestMeanAndMedian compares with sorting and exact rationals.
func TestMeanAndMedian(t *testing.T) {
	half := big.NewRat(1, 2)
	// nearest rounds halves up.
	nearest := func(r *big.Rat) int64 {
		r.Add(r, half)
		return new(big.Int).Div(r.Num(), r.Denom()).Int64()
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		limit := int64(1) << (1 + rng.IntN(63))
		if limit < 0 {
			limit = math.MaxInt64
		}
		var jobs []sched.PastJob
		for range 1 + rng.IntN(40) {
			j := sched.PastJob{User: [...]string{"", "a", "b"}[rng.IntN(3)], Group: [...]string{"", "x", "y", "z"}[rng.IntN(4)], Gang: 1}
			j.Iters = rng.Int64N(limit)
			if rng.IntN(4) == 0 {
				j.Iters = limit - 1
			}
			jobs = append(jobs, j)
		}
		for _, by := range []Key{ByGroup, ByUser, Overall} {
			mean, err := NewMean(jobs[:len(jobs)/2], by, Retraining{Completions: 1})
			must(t, mean, err)
			median, err := NewMedian(jobs[:len(jobs)/2], by, Retraining{Completions: 1})
			must(t, median, err)
			for _, j := range jobs[len(jobs)/2:] {
				mean.Observe(j)
				median.Observe(j)
			}
			for _, q := range append(jobs, sched.PastJob{User: "new", Group: "new"}) {
				var match []int64
				sum := new(big.Int)
				for _, j := range jobs {
					if by == Overall || by == ByUser && j.User == q.User && q.User != "" || by == ByGroup && j.Group == q.Group && q.Group != "" {
						match = append(match, j.Iters)
						sum.Add(sum, big.NewInt(j.Iters))
					}
				}
				var wantMean, wantMedian int64
				if n := len(match); n > 0 {
					slices.Sort(match)
					wantMean = nearest(new(big.Rat).SetFrac(sum, big.NewInt(int64(n))))
					middle := new(big.Int).Add(big.NewInt(match[(n-1)/2]), big.NewInt(match[n/2]))
					wantMedian = nearest(new(big.Rat).SetFrac(middle, big.NewInt(2)))
				}
				if got := ask(t, mean, q.User, q.Group, 1); got != wantMean {
					t.Fatalf("seed %d, mean by %v of %v: %d, want %d", seed, by, match, got, wantMean)
				}
				if got := ask(t, median, q.User, q.Group, 1); got != wantMedian {
					t.Fatalf("seed %d, median by %v of %v: %d, want %d", seed, by, match, got, wantMedian)
				}
			}
		}
	}
}

// adapter makes a Predictor the simulator's. The policy asks at submission.
type adapter struct{ *Predictor }

func (a adapter) Predict(j sim.Job) (int64, error) {
	a.Advance(j.Release)
	return a.Predictor.Predict(j.User, j.Group, j.Gang)
}

func (a adapter) Observe(j sim.Job, iters int64) {
	a.Predictor.Observe(sched.PastJob{User: j.User, Group: j.Group, Gang: j.Gang, Iters: iters})
}

// TestInSimulation drives shortest-job-first with a forest that retrains at
// every completion.
func TestInSimulation(t *testing.T) {
	in := &sched.Instance{
		Name:    "recurrent",
		Model:   sched.ModelGang,
		Cluster: sched.Uniform(1, 1, 1, 1),
		History: past("u", "a", 7),
	}
	for i, group := range []string{"a", "b", "a", "b", "b"} {
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(i) * 100 * sched.Second, User: "u", Group: group, Weight: 1, Iters: 3,
			Stages: []sched.Stage{{Replicas: 1, Compute: 1_000_000_000}}})
	}
	p, err := NewForest(in.History, ForestOptions{Train: TrainOptions{Trees: 1, Whole: true}, Retraining: Retraining{Completions: 1}})
	must(t, p, err)
	r, err := sim.Run(context.Background(), in, listsched.SJF(listsched.Options{}), sim.Options{Predictor: adapter{p}})
	if err != nil {
		t.Fatal(err)
	}
	// Job 2 is predicted (7 + 3)/2 from the history and job 0; b is unseen first.
	if got, want := fmt.Sprint(r.Predictions), "[{0 7} {1 0} {2 5} {3 3} {4 3}]"; got != want || r.Clairvoyant {
		t.Errorf("predictions %s, want %s; clairvoyant %t", got, want, r.Clairvoyant)
	}
}
