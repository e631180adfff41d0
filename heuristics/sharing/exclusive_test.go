package sharing_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// listed replays exclusive jobs as counts of GPUs: whenever jobs come or go, all
// waiting ones are gone through in order.
func listed(in *sched.Instance, shorter, strict bool) []sched.Time {
	memory := in.Cluster.Servers[0].GPUMemory
	length := func(id int) *sched.Accumulation { return solo(&naiveJob{Job: &in.Jobs[id]}, memory) }
	runs := make([]sched.Time, len(in.Jobs)) // rounded up
	end := make([]sched.Time, len(in.Jobs))
	order := make([]int, len(in.Jobs))
	for i := range in.Jobs {
		order[i] = i
		runs[i] = in.Jobs[i].Load + sched.Time((in.Jobs[i].Iters*int64(length(i).Iter)+999)/1000)
	}
	slices.SortFunc(order, func(a, b int) int {
		size := 0
		if shorter {
			size = cmp.Compare(in.Jobs[a].Iters*int64(length(a).Iter), in.Jobs[b].Iters*int64(length(b).Iter))
		}
		return cmp.Or(size, cmp.Compare(in.Jobs[a].Release, in.Jobs[b].Release), cmp.Compare(a, b))
	})
	for now := sched.Time(0); slices.Contains(end, 0); {
		free, next := in.Cluster.GPUs(), sched.MaxTime
		for i := range in.Jobs {
			if end[i] > now {
				free -= in.Jobs[i].Gang()
			}
		}
		for _, i := range order {
			if end[i] > 0 || in.Jobs[i].Release > now {
				continue
			}
			if in.Jobs[i].Gang() > free {
				if strict {
					break
				}
				continue
			}
			free -= in.Jobs[i].Gang()
			end[i] = now + runs[i]
		}
		for i := range in.Jobs {
			if end[i] > now {
				next = min(next, end[i])
			} else if end[i] == 0 && in.Jobs[i].Release > now {
				next = min(next, in.Jobs[i].Release)
			}
		}
		now = next
	}
	return end
}

// TestExclusive compares FIFO and SJF with the list.
func TestExclusive(t *testing.T) {
	for seed := range uint64(600) {
		in := coarse(rand.New(rand.NewPCG(seed, 3)))
		for name, test := range map[string]struct {
			policy          *sharing.Exclusive
			shorter, strict bool
		}{"fifo": {sharing.FIFO(), false, true}, "sjf": {sharing.SJF(false), true, false}, "strict sjf": {sharing.SJF(true), true, true}} {
			v := replay(t, in, test.policy, sim.Options{})
			want := listed(in, test.shorter, test.strict)
			for i, j := range v.Jobs() {
				if j.Completion != want[i] {
					t.Fatalf("seed %d, %s: job %d ends at %v, want %v\n%+v", seed, name, i, j.Completion, want[i], in)
				}
			}
		}
	}
}

// TestLeastWorked: jobs go round the GPUs of servers, the least worked first.
func TestLeastWorked(t *testing.T) {
	in := &sched.Instance{Name: "round", Model: sched.ModelSharing, Cluster: schedtest.Servers(1, 1, 1), Interference: [][]float64{{1}}}
	for i, at := range []sched.Time{0, 10, 20, 30} {
		j := schedtest.Job(at, 1, 1)
		j.Iters = int64(4 - i)
		j.Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1000}}}
		in.Jobs = append(in.Jobs, j)
	}
	v := replay(t, in, sharing.FIFO(), sim.Options{})
	var servers []int
	for _, seg := range v.Schedule().Segments {
		servers = append(servers, seg.Place.Shares[0].Server)
	}
	if want := []int{0, 1, 2, 2}; !slices.Equal(servers, want) {
		t.Errorf("jobs are on servers %v, want %v", servers, want)
	}
}

// TestTooLarge: a job that needs more memory than a GPU has is refused by name.
func TestTooLarge(t *testing.T) {
	in := coarse(rand.New(rand.NewPCG(1, 3)))
	sh := *in.Jobs[1].Sharing
	sh.Accumulation = []sched.Accumulation{{Steps: 1, Iter: 1000, Memory: 9}}
	in.Jobs[1].Sharing = &sh
	for _, p := range []sim.Policy{sharing.FIFO(), sharing.SJF(false), sharing.BSBF(in.Interference, sharing.Options{}), sharing.FFS(in.Interference, sim.Pool)} {
		_, err := sim.Run(t.Context(), in, p, sim.Options{})
		if err == nil || !strings.Contains(err.Error(), "job 1 fits no GPU") {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}

// TestAsPreemptive: on the instance of the preemptive model FIFO and SJF jobs run
// as long as on the original.
func TestAsPreemptive(t *testing.T) {
	for seed := range uint64(100) {
		in := coarse(rand.New(rand.NewPCG(seed, 4)))
		out, err := schedtest.Exclusive(in, 3)
		if err != nil {
			t.Fatal(err)
		}
		o := sharing.LAS{Interval: 1 << 40, Placement: sim.Pool}
		v := replay(t, out, sharing.NewTiresias(o), sim.Options{})
		for i, j := range v.Jobs() {
			if want := listed(in, false, false); j.Completion != want[i] || j.Preemptions > 0 {
				t.Fatalf("seed %d: job %d ends at %v, want %v", seed, i, j.Completion, want[i])
			}
		}
	}
	for seed := range uint64(100) { // and Tiresias preempts alike on both
		in := coarse(rand.New(rand.NewPCG(seed, 5)))
		for i := range in.Jobs {
			in.Jobs[i].Pause = 3
		}
		out, err := schedtest.Exclusive(in, 3)
		if err != nil {
			t.Fatal(err)
		}
		o := sharing.LAS{Interval: 7, Thresholds: []sched.Time{20, 90}, Placement: sim.Pool}
		a, b := replay(t, in, sharing.NewTiresias(o), sim.Options{}), replay(t, out, sharing.NewTiresias(o), sim.Options{})
		if !slices.Equal(a.Jobs(), b.Jobs()) {
			t.Fatalf("seed %d: %+v on the sharing model, %+v on the preemptive one", seed, a.Jobs(), b.Jobs())
		}
	}
	if _, err := schedtest.Exclusive(schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1)), 1); err == nil {
		t.Error("a gang instance is accepted")
	}
}
