package instances

import (
	"bytes"
	"context"
	"flag"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"yardstick/bounds"
	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

var update = flag.Bool("update", false, "write the golden files")

// Instances are the same everywhere: these hashes must hold on every machine.
// They may change only with a change of the rules, which is then a change of
// every result.
func TestHashes(t *testing.T) {
	want := map[string]string{
		"gang":       "a09ffd483c95d317f4b1004f9ad580e0765d3ad4a3278b54097adb773150bed7",
		"preemptive": "142ea3339b04450ba724c33336fc3852248564b80116465a04443850a16d0512",
		"sharing":    "9567b63cd1e6d9018574c34a72ab320e72368b16049aa612098f777603ffe3dd",
		"elastic":    "cd816fda471dc85ba83cda2e4a81fd12c27f3ab0ebf94205127bfdf3690454d2",
		"ring":       "b45fda18d1ed300bcad95305cdcad918701ddb3da5136c9206c0bcd104572735",
	}
	for name, in := range all(t, window(t)) {
		if got := in.Hash(); got != want[name] {
			t.Errorf("%s: hash %s, want %s", name, got, want[name])
		}
	}
}

func TestRepeats(t *testing.T) {
	first, second := all(t, window(t)), all(t, window(t))
	other := windows(t, rows(200), datasets.Slice{Jobs: 100, At: datasets.At{Rule: datasets.AtIndex, Index: 100}}, 2)[0]
	for name, in := range all(t, &other) {
		if !reflect.DeepEqual(first[name], second[name]) {
			t.Errorf("%s: two instances of one window differ", name)
		}
		if in.Hash() == first[name].Hash() {
			t.Errorf("%s: another seed makes the same instance", name)
		}
		var text bytes.Buffer
		if err := in.Write(&text); err != nil {
			t.Fatal(err)
		}
		back, err := sched.ReadInstance(&text)
		if err != nil || back.Hash() != in.Hash() {
			t.Errorf("%s: read back with another hash (%v)", name, err)
		}
	}
}

// The options are read, not changed.
func TestOptionsStay(t *testing.T) {
	w := window(t)
	g, p, s := gangOptions(), preemptiveOptions(), sharingOptions()
	must(t)(Gang(w, g))
	must(t)(Preemptive(w, p))
	must(t)(Sharing(w, s))
	if !reflect.DeepEqual(g, gangOptions()) || !reflect.DeepEqual(p, preemptiveOptions()) || !reflect.DeepEqual(s, sharingOptions()) {
		t.Error("building changed the options")
	}
}

// A job that two windows of one seed share is the same job in both, but for its
// release.
func TestWindowsAgree(t *testing.T) {
	early := window(t)
	late := windows(t, rows(200), datasets.Slice{Jobs: 60, At: datasets.At{Rule: datasets.AtIndex, Index: 140}}, 1)[0]
	a, b := all(t, early), all(t, &late)
	for name := range a {
		shift := a[name].Jobs[40].Release
		for i := range b[name].Jobs {
			x, y := a[name].Jobs[40+i], b[name].Jobs[i]
			x.Release, y.Release = 0, 0
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("%s: job %q is %+v in one window and %+v in the other", name, x.Name, x, y)
			}
			if got := a[name].Jobs[40+i].Release - b[name].Jobs[i].Release; got != shift && a[name].Slot == 0 {
				t.Errorf("%s: job %q is released %v apart, want %v", name, x.Name, got, shift)
			}
		}
	}
}

func TestCommon(t *testing.T) {
	w := window(t)
	for name, in := range all(t, w) {
		for i, j := range w.List() {
			got := &in.Jobs[i]
			want := j.Submit - w.List()[0].Submit
			if in.Slot > 0 {
				want = (want + in.Slot - 1) / in.Slot * in.Slot
			}
			if got.Name != j.ID || got.User != j.User || got.Group != j.Group || got.Release != want {
				t.Errorf("%s: job %q of %q in %q at %v is %q of %q in %q at %v", name, j.ID, j.User, j.Group, want, got.Name, got.User, got.Group, got.Release)
			}
			if j.Weight.OK && got.Weight != j.Weight.V {
				t.Errorf("%s: job %q weighs %v, the trace says %v", name, j.ID, got.Weight, j.Weight.V)
			}
		}
	}
	o := gangOptions()
	o.Round, o.Slotted, o.Deadline, o.Weights = 60*sched.Second, true, 5*sched.Second, datasets.WeightsUnit
	in := must(t)(Gang(w, o))
	if in.Slot != o.Round || in.Deadline != o.Deadline {
		t.Errorf("slot %v, deadline %v", in.Slot, in.Deadline)
	}
	for i, j := range w.List() {
		exact := j.Submit - w.List()[0].Submit
		if r := in.Jobs[i].Release; r%o.Round != 0 || r < exact || r >= exact+o.Round || in.Jobs[i].Weight != 1 {
			t.Errorf("job %d: released at %v for %v, weight %v", i, r, exact, in.Jobs[i].Weight)
		}
	}
}

// Every rigid instance runs under the list schedules, the verifier accepts the
// result, and no bound is above its cost.
func TestInstancesRun(t *testing.T) {
	w := window(t)
	for name, in := range all(t, w) {
		if in.Model == sched.ModelElastic {
			continue
		}
		for _, p := range []*listsched.Policy{listsched.FIFO(listsched.Options{}), listsched.SJF(listsched.Options{Blocking: listsched.Skip, Placement: sim.BestFit})} {
			r, err := sim.Run(context.Background(), in, p, sim.Options{})
			if err != nil {
				t.Fatalf("%s under %s: %v", name, p.Name(), err)
			}
			v := schedtest.Verify(t, in, r.Schedule)
			if in.Model == sched.ModelSharing {
				continue // the bounds are of exclusive classes
			}
			for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.Makespan} {
				b, err := bounds.Best(in, obj)
				if err != nil {
					t.Fatalf("%s, %v: %v", name, obj, err)
				}
				if b.Value.Sign() <= 0 || b.Value.Cmp(v.Cost(obj)) > 0 {
					t.Errorf("%s under %s: %v costs %v, below the bound %v (%s)", name, p.Name(), obj, v.Cost(obj), b.Value, b.Name)
				}
			}
		}
	}
}

// On tiny windows: bound ≤ optimum by brute force ≤ schedule.
func TestBruteForce(t *testing.T) {
	o := gangOptions()
	o.Cluster = sched.Uniform(2, 2, 1_250_000_000, 300_000_000_000)
	for _, w := range windows(t, rows(60), datasets.Slice{Jobs: 3, Repeat: 10}, 3) {
		in := must(t)(Gang(&w, o))
		schedule, optimum := schedtest.BruteForce(in, sched.TotalCompletion)
		schedtest.Verify(t, in, schedule)
		b, err := bounds.Best(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(context.Background(), in, listsched.SJF(listsched.Options{}), sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cost := schedtest.Verify(t, in, r.Schedule).Cost(sched.TotalCompletion)
		if b.Value.Cmp(optimum) > 0 || optimum.Cmp(cost) > 0 {
			t.Errorf("window %d: bound %v, optimum %v, SJF %v", w.Repetition, b.Value, optimum, cost)
		}
	}
}

func TestErrors(t *testing.T) {
	w := window(t)
	change := func(f func(*GangOptions)) error {
		o := gangOptions()
		f(&o)
		_, err := Gang(w, o)
		return err
	}
	preempt := func(f func(*PreemptiveOptions)) error {
		o := preemptiveOptions()
		f(&o)
		_, err := Preemptive(w, o)
		return err
	}
	share := func(f func(*SharingOptions)) error {
		o := sharingOptions()
		f(&o)
		_, err := Sharing(w, o)
		return err
	}
	stretch := func(f func(*ElasticOptions)) error {
		o := elasticOptions()
		f(&o)
		_, err := Elastic(w, o)
		return err
	}
	small := sched.Uniform(1, 1, 1e9, 1e9)
	for _, c := range []struct {
		err  error
		want string
	}{
		{change(func(o *GangOptions) { o.Configs = []profile.Config{} }), "none of the 0 given"},
		{change(func(o *GangOptions) { o.Configs = o.Configs[:2] }), "needs a distributed configuration"},
		{change(func(o *GangOptions) { o.Configs = o.Configs[2:] }), "needs a single-GPU configuration"},
		{change(func(o *GangOptions) { o.Configs[0].GPUs = 2 }), "the two must agree"},
		{change(func(o *GangOptions) { o.Configs[0].Stages[0].Compute, o.Configs[1].Stages[0].Compute = 0, 0 }), "compute 0s"},
		{change(func(o *GangOptions) { o.Cluster = small }), "needs a distributed configuration"},
		{change(func(o *GangOptions) { o.Cluster = sched.Cluster{} }), "none of the 6 given"},
		{change(func(o *GangOptions) { o.Shrink = datasets.Some[int64](0) }), "shrink is 0"},
		{change(func(o *GangOptions) { o.SingleShare = datasets.Some(1.5) }), "between 0 and 1"},
		{change(func(o *GangOptions) { o.Round = -1 }), "round is"},
		{change(func(o *GangOptions) { o.Slotted = true }), "set round"},
		{change(func(o *GangOptions) { o.History = -1 }), "history is -1"},
		{change(func(o *GangOptions) { o.Weights = "heavy" }), `weights "heavy"`},
		{preempt(func(o *PreemptiveOptions) { o.Cluster = small }), "GPUs at once, the cluster has 1"},
		{preempt(func(o *PreemptiveOptions) { o.Models = []Model{} }), "no models"},
		{preempt(func(o *PreemptiveOptions) { o.Models = []Model{{"huge", 1e18}} }), `model "huge"`},
		{preempt(func(o *PreemptiveOptions) { o.Models = []Model{{"odd", -1}} }), `model "odd"`},
		{preempt(func(o *PreemptiveOptions) { o.Storage = datasets.Some(Storage{}) }), "storage is 0"},
		{preempt(func(o *PreemptiveOptions) {
			o.Round, o.Iteration = 1_000_000, datasets.Some[sched.Duration](300_000_000)
		}), "no multiple"},
		{share(func(o *SharingOptions) { o.GPUMemory = datasets.Opt[sched.Bytes]{} }), "server 0 has GPUs of 0B"},
		{share(func(o *SharingOptions) { o.GPUMemory = datasets.Some[sched.Bytes](2_000_000_000) }), "for a single sample"},
		{share(func(o *SharingOptions) { o.Tasks = o.Tasks[:2] }), "3 rows for 2 tasks"},
		{share(func(o *SharingOptions) { o.Interference = nil }), `task "a"`},
		{share(func(o *SharingOptions) { o.Interference[1][1] = 0.5 }), "at least 1"},
		{share(func(o *SharingOptions) { o.Tasks[0].Overlap = 0.5 }), "overlap is 0.5"},
		{share(func(o *SharingOptions) { o.Tasks[0].Batch = 0 }), "mini-batch of 0"},
		{share(func(o *SharingOptions) { o.Tasks = []Task{} }), "no tasks"},
		{share(func(o *SharingOptions) { o.Tasks[0].Local.Each = -1 }), "synchronising takes"},
		{share(func(o *SharingOptions) { o.Tasks[0].Fixed = -1 }), "computing takes"},
		{share(func(o *SharingOptions) { o.Tasks[0].Sample = 1e12 + 1 }), "between 0B and 1TB"},
		{share(func(o *SharingOptions) { o.Tasks[0].Batch, o.Tasks[0].PerSample = 1<<24, 1e11 }), "too much"},
		{share(func(o *SharingOptions) {
			o.Cluster.Inter, o.Cluster.Intra = 1, 1
			for i := range o.Tasks {
				o.Tasks[i].Gradients = 1e12
			}
		}), "too slow a network"},
		{change(func(o *GangOptions) { o.Params = 1 }), "drop them, or the profiles"},
		{change(func(o *GangOptions) { o.Iteration = datasets.Some[sched.Duration](1) }), "drop them, or the profiles"},
		{change(func(o *GangOptions) { o.Deadline = -1 }), "deadline is -1"},
		{share(func(o *SharingOptions) { o.GPUMemory = datasets.Some[sched.Bytes](0) }), "gpuMemory is 0B"},
		{share(func(o *SharingOptions) { o.Rate = datasets.Some(0.0) }), "rate is 0"},
		{share(func(o *SharingOptions) { o.Xi = datasets.Some(0.0) }), "xi is 0"},
		{stretch(func(o *ElasticOptions) { o.Servers = datasets.Some(0) }), "0 servers"},
		{share(func(o *SharingOptions) { o.Rate, o.OfferedLoad = datasets.Some(2.0), datasets.Some(0.5) }), "drop one of the two"},
		{change(func(o *GangOptions) { o.OfferedLoad = datasets.Some(0.0) }), "offeredLoad is 0"},
		{change(func(o *GangOptions) { o.OfferedLoad = datasets.Some(math.NaN()) }), "offeredLoad is NaN"},
		{change(func(o *GangOptions) { o.OfferedLoad = datasets.Some(math.Inf(1)) }), "offeredLoad is +Inf"},
		{change(func(o *GangOptions) { o.OfferedLoad = datasets.Some(1e-300) }), "a larger load"},
		{change(func(o *GangOptions) { o.OfferedLoad = datasets.Some(1000.0) }), "and be a burst"},
		{stretch(func(o *ElasticOptions) { o.OfferedLoad = datasets.Some(0.5) }), "no offered load to set"},
		{stretch(func(o *ElasticOptions) { o.History = 1 }), "no gang"},
		{stretch(func(o *ElasticOptions) { o.Capacity = datasets.Some(-1.0) }), "capacity is -1"},
		{stretch(func(o *ElasticOptions) { o.Servers = datasets.Some(-1) }), "-1 servers"},
		{stretch(func(o *ElasticOptions) { o.Capacity = datasets.Some(1000.0) }), "GPUs"},
		{stretch(func(o *ElasticOptions) { o.Cluster = small }), "no job can run"},
	} {
		switch {
		case c.err == nil:
			t.Errorf("no error about %q", c.want)
		case !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") || !strings.HasPrefix(c.err.Error(), `instances: instance "test": `):
			t.Errorf("error %q, want one line about %q", c.err, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	var got strings.Builder
	built := all(t, window(t))
	for _, name := range []string{"gang", "preemptive", "sharing", "elastic", "ring"} {
		text, err := Describe(built[name])
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(text + "\n")
	}
	file := filepath.Join("testdata", "describe.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got.String() != string(want) {
		t.Errorf("describes\n%s\nwant\n%s(%v)", got.String(), want, err)
	}
	for _, m := range sched.Models() {
		if !strings.Contains(got.String(), ", "+string(m)+" model, ") {
			t.Errorf("no instance of the %s model is described", m)
		}
	}
	in := built["gang"]
	in.Jobs[0].Iters = 1 << 62
	if _, err := Describe(in); err == nil {
		t.Error("a job of 2^62 iterations has a description")
	}
}

// The configurations that profile makes are ones that Gang takes.
func TestProfiles(t *testing.T) {
	w := window(t)
	for _, gpu := range profile.GPUs() {
		o, err := asrpt(gpu.Name)
		if err != nil {
			t.Fatal(err)
		}
		in := must(t)(Gang(w, o))
		for i := range in.Jobs {
			if in.Jobs[i].Iters < 1 || in.Jobs[i].Model == "" {
				t.Errorf("%s: job %d: %+v", gpu.Name, i, in.Jobs[i])
			}
		}
	}
}

func rat(num, den int64) *big.Rat { return big.NewRat(num, den) }
