package timeindexed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"yardstick/sched"
)

// apart has two bursts of jobs so far from each other, each on three GPUs.
func apart(between sched.Time, compute sched.Duration) *sched.Instance {
	in := &sched.Instance{Name: "apart", Model: sched.ModelGang, Cluster: sched.Uniform(1, 3, 1e9, 1e9)}
	for i := range 6 {
		in.Jobs = append(in.Jobs, sched.Job{Name: fmt.Sprint(i), Release: sched.Time(i/3) * between, Weight: 1, Iters: 1000,
			Stages: []sched.Stage{{Replicas: 1 + i%2, Compute: compute}}})
	}
	return in
}

// allocated returns how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSlotsInWhichNothingRuns: the time between two bursts costs neither rows nor memory,
// in any of the programs.
func TestSlotsInWhichNothingRuns(t *testing.T) {
	builds := map[string]func(in *sched.Instance, up bool) (rows int, err error){
		"starts": func(in *sched.Instance, up bool) (int, error) {
			p, err := Build(in, sched.TotalJCT, 100, up)
			if err != nil {
				return 0, err
			}
			return len(p.Model.Rows), nil
		},
		"configurations": func(in *sched.Instance, up bool) (int, error) {
			p, err := BuildConfigurations(in, sched.TotalJCT, 100, up)
			if err != nil {
				return 0, err
			}
			return len(p.Model.Rows), nil
		},
		"servers": func(in *sched.Instance, up bool) (int, error) {
			p, err := BuildServers(in, sched.TotalJCT, 100, up)
			if err != nil {
				return 0, err
			}
			return len(p.Model.Rows), nil
		},
	}
	for name, build := range builds {
		for _, up := range []bool{false, true} {
			near, err := build(apart(100_000, 1000), up)
			if err != nil {
				t.Fatal(err)
			}
			if took := allocated(func() {
				far, err := build(apart(1_000_000_000_000, 1000), up)
				if err != nil || far != near {
					t.Errorf("%s, up %v: %d rows, %d where the bursts are near; %v", name, up, far, near, err)
				}
			}); took > 50<<20 {
				t.Errorf("%s, up %v: took %d MB", name, up, took>>20)
			}
		}
	}
}

// TestSizeIsCountedFirst: a program beyond the limits is refused before anything is made
// of it, and Size tells its size.
func TestSizeIsCountedFirst(t *testing.T) {
	for _, test := range []struct {
		compute sched.Duration
		slot    sched.Time
		what    string
	}{{1_000_000, 1, "columns"}, {1_000_000_000, 100_000, "nonzeros"}} {
		in := apart(0, test.compute)
		rows, cols, nonzeros, err := Size(in, sched.TotalJCT, test.slot)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(rows, cols, nonzeros)
		if took := allocated(func() {
			if _, err := Build(in, sched.TotalJCT, test.slot, false); !errors.Is(err, sched.ErrNotApplicable) {
				t.Errorf("%s: %v", test.what, err)
			}
		}); took > 50<<20 {
			t.Errorf("%s: took %d MB", test.what, took>>20)
		}
	}
}

// TestUsage holds the usage of GPUs over spans against one number per slot.
func TestUsage(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		u, plain := usage{at: []int{0}, gpus: []int{0}}, make([]int, 400)
		const gpus = 5
		for range 15 {
			from, slots, gang := r.IntN(40), r.IntN(12), 1+r.IntN(gpus)
			first := u.earliest(from, slots, gpus-gang)
			want := from
			for ; slices.ContainsFunc(plain[want:want+slots], func(n int) bool { return n+gang > gpus }); want++ {
			}
			if first != want {
				t.Fatalf("seed %d: %d, want %d", seed, first, want)
			}
			u.take(first, slots, gang)
			for s := first; s < first+slots; s++ {
				plain[s] += gang
			}
		}
	}
}
