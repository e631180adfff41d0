package instances

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/sched"
)

// loaded builds the window on each model that has a load, with options in common.
func loaded(w *datasets.Window, change func(*Common)) map[string]func() (*sched.Instance, error) {
	gang, rigid, preemptive, sharing := gangOptions(), gangOptions(), preemptiveOptions(), sharingOptions()
	rigid.Configs, rigid.Params = nil, 50_000_000
	shrunk, malleable := gangOptions(), sharingOptions()
	shrunk.Shrink, malleable.Malleable = datasets.Some[int64](7), true
	for _, c := range []*Common{&gang.Common, &rigid.Common, &preemptive.Common, &sharing.Common, &shrunk.Common, &malleable.Common} {
		c.Cluster = sched.Uniform(6, 4, 1_250_000_000, 300_000_000_000)
		change(c)
	}
	return map[string]func() (*sched.Instance, error){
		"gang with profiles": func() (*sched.Instance, error) { return Gang(w, gang) },
		"gang, shrunk":       func() (*sched.Instance, error) { return Gang(w, shrunk) },
		"gang of the trace":  func() (*sched.Instance, error) { return Gang(w, rigid) },
		"preemptive":         func() (*sched.Instance, error) { return Preemptive(w, preemptive) },
		"sharing":            func() (*sched.Instance, error) { return Sharing(w, sharing) },
		"malleable":          func() (*sched.Instance, error) { return Sharing(w, malleable) },
	}
}

// exactLoad is the definition of the offered load in rational arithmetic, on an
// instance whose running times follow from the numbers of its jobs: no placement
// matters. It is nil of a burst.
func exactLoad(in *sched.Instance) *big.Rat {
	n := int64(len(in.Jobs))
	work, run := new(big.Rat), new(big.Rat)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		t := big.NewRat(int64(j.Stages[0].Compute), 1000)
		t.Mul(t, new(big.Rat).SetInt64(j.Iters))
		whole := new(big.Int).Div(new(big.Int).Sub(new(big.Int).Add(t.Num(), t.Denom()), big.NewInt(1)), t.Denom()) // rounded up to microseconds
		t.SetInt(whole)
		run.Add(run, t)
		work.Add(work, t.Mul(t, new(big.Rat).SetInt64(int64(j.Gang()))))
	}
	span := big.NewRat(int64(in.Jobs[n-1].Release), 1)
	if span.Sign() == 0 || span.Cmp(run.Quo(run, big.NewRat(n, 1))) < 0 {
		return nil
	}
	work.Mul(work, big.NewRat(n-1, n*int64(in.Cluster.GPUs())))
	return work.Quo(work, span)
}

// TestOfferedLoadIsDefined compares with the definition on every model.
func TestOfferedLoadIsDefined(t *testing.T) {
	w := window(t)
	for name, make := range loaded(w, func(*Common) {}) {
		in := must(t)(make())
		got, ok, err := OfferedLoad(in)
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", name, ok, err)
		}
		if !strings.HasPrefix(name, "gang") {
			if want, _ := exactLoad(in).Float64(); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		double := *in
		double.Cluster.Servers = slices.Concat(in.Cluster.Servers, in.Cluster.Servers)
		if half, ok, err := OfferedLoad(&double); err != nil || !ok || half != got/2 {
			t.Errorf("%s: %v on twice the cluster, and %v before (%v)", name, half, got, err)
		}
		text, err := Describe(in)
		if want := fmt.Sprintf(", %.1f %%, over ", 100*got); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: the load is %v, described as\n%s", name, got, text)
		}
	}
	if _, ok, err := OfferedLoad(must(t)(Elastic(w, elasticOptions()))); ok || err != nil {
		t.Errorf("an elastic instance has an offered load (%v)", err)
	}
	burst := &windows(t, rows(200), datasets.Slice{Jobs: 2}, 1)[0]
	if load, ok, err := OfferedLoad(must(t)(Preemptive(burst, preemptiveOptions()))); ok || err != nil {
		t.Errorf("a burst has load %v (%v)", load, err)
	}
}

// TestOfferedLoadIsSet: on every model, the instance has the load that was asked
// for, up to the rounding of releases; its jobs are otherwise what they were, in
// the same order, and their releases in proportion. Setting it again changes
// nothing.
func TestOfferedLoadIsSet(t *testing.T) {
	w := window(t)
	for _, round := range []sched.Time{0, 60 * sched.Second} {
		plain := loaded(w, func(c *Common) { c.Round = round })
		for _, load := range []float64{0.05, 0.3, 0.9, 1.7} {
			for name, make := range loaded(w, func(c *Common) { c.Round, c.OfferedLoad = round, datasets.Some(load) }) {
				was, in := must(t)(plain[name]()), must(t)(make())
				got, ok, err := OfferedLoad(in)
				span, before := releaseSpan(in), releaseSpan(was)
				// Rounding up lengthens the span by less than a microsecond and round.
				if least := load * float64(span-round-1) / float64(span); err != nil || !ok || got > load*(1+1e-12) || got < least*(1-1e-12) {
					t.Errorf("%s, round %v: the load is %v, want %v and at least %v (%v)", name, round, got, load, least, err)
				}
				factor := float64(span) / float64(before)
				// Both have been rounded up, each job and the last.
				slack := 2*float64(round+1)*(1+factor) + 1
				for i := range in.Jobs {
					a, b := was.Jobs[i], in.Jobs[i]
					if math.Abs(float64(b.Release)-factor*float64(a.Release)) > slack || i > 0 && b.Release < in.Jobs[i-1].Release || round > 0 && b.Release%round != 0 {
						t.Errorf("%s: job %d was released at %v and is at %v, %v times as late", name, i, a.Release, b.Release, factor)
					}
					a.Release, b.Release = 0, 0
					if !reflect.DeepEqual(a, b) {
						t.Errorf("%s: job %d was %+v and is %+v", name, i, a, b)
					}
				}
				if !reflect.DeepEqual(was.History, in.History) || !reflect.DeepEqual(was.Cluster, in.Cluster) {
					t.Errorf("%s: the history or the cluster changed", name)
				}
				hash := in.Hash()
				if err := spread(in, load); err != nil {
					t.Fatal(err)
				}
				for i := range in.Jobs {
					in.Jobs[i].Release = roundUp(in.Jobs[i].Release, round)
				}
				if in.Hash() != hash {
					t.Errorf("%s, round %v: setting load %v twice is not setting it once", name, round, load)
				}
			}
		}
	}
}

// TestSetLoadIsRoundedLast: where Round is about releases alone, those of a set load
// are the ones without it, rounded up.
func TestSetLoadIsRoundedLast(t *testing.T) {
	w := window(t)
	const round = 60 * sched.Second
	plain := loaded(w, func(c *Common) { c.OfferedLoad = datasets.Some(0.9) })
	rounded := loaded(w, func(c *Common) { c.OfferedLoad, c.Round = datasets.Some(0.9), round })
	for _, name := range []string{"gang with profiles", "gang, shrunk", "sharing", "malleable"} {
		a, b := must(t)(plain[name]()), must(t)(rounded[name]())
		for i := range a.Jobs {
			if want := roundUp(a.Jobs[i].Release, round); b.Jobs[i].Release != want {
				t.Errorf("%s: job %d is released at %v, want %v", name, i, b.Jobs[i].Release, want)
			}
		}
	}
}

// TestSpread follows the definition by hand on random jobs, bursts among them: the
// last release is the least one of a load that is not above the given, and the
// others are in its proportion.
func TestSpread(t *testing.T) {
	set, refused := 0, 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 21))
		n, scale := 2+rng.IntN(12), sched.Time(1)<<rng.IntN(30)
		in := &sched.Instance{Name: "x", Model: sched.ModelGang, Cluster: sched.Uniform(1, 1+rng.IntN(8), 1e9, 1e9)}
		for i := range n {
			j := sched.Job{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 1 + rng.IntN(in.Cluster.GPUs()), Compute: sched.Duration(1+rng.IntN(50)) * 1000 * sched.Duration(scale)}}}
			if i > 0 {
				j.Release = in.Jobs[i-1].Release + sched.Time(rng.IntN(1+rng.IntN(60)))*scale
			}
			in.Jobs = append(in.Jobs, j)
		}
		exact, load := exactLoad(in), 0.01+2*rng.Float64()
		before := slices.Clone(in.Jobs)
		err := spread(in, load)
		if err != nil {
			refused++
			if !reflect.DeepEqual(in.Jobs, before) || strings.Contains(err.Error(), "\n") {
				t.Errorf("seed %d: jobs were moved, or it takes several lines to say why not: %v", seed, err)
			}
			if exact == nil {
				continue
			}
			// Over the span of that load, the jobs are a burst.
			for i := range in.Jobs {
				in.Jobs[i].Release = sched.Time(float64(in.Jobs[i].Release) * ratio(exact, load))
			}
			if exactLoad(in) != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		if exact == nil {
			t.Errorf("seed %d: a burst was given a load", seed)
			continue
		}
		set++
		span, was := in.Jobs[n-1].Release, before[n-1].Release
		if got, _ := exactLoad(in).Float64(); got > load*(1+1e-9) || got*float64(span)/(float64(span)-1) < load*(1-1e-9) {
			t.Errorf("seed %d: load %v over %v, want %v", seed, got, span, load)
		}
		for i := range in.Jobs {
			at := new(big.Int).Mul(big.NewInt(int64(before[i].Release)), big.NewInt(int64(span)))
			at.Add(at, big.NewInt(int64(was)-1)).Quo(at, big.NewInt(int64(was)))
			if at.Int64() != int64(in.Jobs[i].Release) {
				t.Errorf("seed %d: job %d is released at %v, want %v", seed, i, in.Jobs[i].Release, at)
			}
		}
	}
	if set < 100 || refused < 60 {
		t.Errorf("%d set and %d refused: the draws test too little", set, refused)
	}
}

// ratio is a load over the one that is wanted.
func ratio(load *big.Rat, want float64) float64 {
	v, _ := load.Float64()
	return v / want
}

// TestSetLoadOfTimesTheUnit: all times of a trace multiplied by a number multiply
// the releases by it.
func TestSetLoadOfTimesTheUnit(t *testing.T) {
	build := func(c float64) *sched.Instance {
		list := rows(200)
		for i := range list {
			list[i].SubmitS.V *= c
			list[i].DurationS.V *= c
		}
		w := &windows(t, list, datasets.Slice{Jobs: 100, At: datasets.At{Rule: datasets.AtIndex, Index: 100}}, 1)[0]
		o := GangOptions{Common: Common{Name: "test", Cluster: cluster(), OfferedLoad: datasets.Some(0.75)}}
		return must(t)(Gang(w, o))
	}
	one := build(1)
	for _, c := range []float64{2, 60, 1000} {
		for i, j := range build(c).Jobs {
			if diff := float64(j.Release) - c*float64(one.Jobs[i].Release); math.Abs(diff) > 2*c {
				t.Errorf("times %v: job %d is released at %v, and at %v before", c, i, j.Release, one.Jobs[i].Release)
			}
		}
	}
}

// TestSetLoadOfBursts: jobs that are a burst are refused in one line that says what
// to do.
func TestSetLoadOfBursts(t *testing.T) {
	burst := &windows(t, rows(200), datasets.Slice{Jobs: 2}, 1)[0]
	for name, make := range loaded(burst, func(c *Common) { c.OfferedLoad = datasets.Some(0.5) }) {
		_, err := make()
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "are a burst") || !strings.Contains(err.Error(), "slice.load") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
