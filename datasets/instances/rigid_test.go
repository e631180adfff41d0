package instances

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/throughput"
	"yardstick/sched"
)

func TestPreemptive(t *testing.T) {
	w := window(t)
	o := preemptiveOptions()
	in := must(t)(Preemptive(w, o))
	parameters := map[string]int64{}
	for _, m := range LazerModels() {
		parameters[m.Name] = m.Parameters
	}
	for i, j := range w.List() {
		got := &in.Jobs[i]
		if got.Gang() != j.Gang || len(got.Stages) != 1 || !got.ConstantIteration() {
			t.Errorf("job %q of %d GPUs: %+v", j.ID, j.Gang, got.Stages)
		}
		off := int64(got.Stages[0].Compute)*got.Iters - int64(j.Run)
		if 2*max(off, -off) > got.Iters {
			t.Errorf("job %q ran for %v, trains for %v too long", j.ID, j.Run, sched.Duration(off))
		}
		// 12 bytes per parameter at 1000 bytes per microsecond.
		save := sched.Time((parameters[got.Model]*12 + 999) / 1000)
		if save == 0 || got.Pause != save || got.Load != save+30*sched.Second {
			t.Errorf("job %q of %s: load %v, pause %v, want a pause of %v", j.ID, got.Model, got.Load, got.Pause, save)
		}
	}
	// VGG19: 143,667,240 · 12 bytes at 1 GB/s.
	if save, err := (Storage{Bandwidth: DefaultStorage}).transfer(143_667_240, 12); save != 1_724_007 || err != nil {
		t.Errorf("VGG19 is saved in %v (%v)", save, err)
	}
}

func TestPreemptiveRounds(t *testing.T) {
	w := window(t)
	for _, iteration := range []datasets.Opt[sched.Duration]{{}, datasets.Some[sched.Duration](500_000_000)} {
		o := preemptiveOptions()
		o.Round, o.Slotted, o.Iteration = 7*sched.Second, true, iteration
		in := must(t)(Preemptive(w, o))
		for i, j := range w.List() {
			got := &in.Jobs[i]
			run := sched.Time(int64(got.Stages[0].Compute) * got.Iters / 1000)
			exact := sched.Time((j.Run + 999) / 1000)
			if int64(got.Stages[0].Compute)*got.Iters%1000 != 0 || run%o.Round != 0 || run < exact || run >= exact+o.Round {
				t.Errorf("job %q ran for %v, trains for %v", j.ID, j.Run, run)
			}
			if got.Load%o.Round != 0 || got.Pause%o.Round != 0 || got.Release%o.Round != 0 || got.Pause == 0 {
				t.Errorf("job %q: release %v, load %v, pause %v", j.ID, got.Release, got.Load, got.Pause)
			}
		}
	}
}

// t_iter against a plain float computation.
func TestIterationAgainstFloats(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		task := Task{Batch: 1 + r.IntN(300), Fixed: sched.Duration(r.IntN(1e8)), PerSample: sched.Duration(1 + r.IntN(1e7)), Overlap: 1 + 9*r.Float64()}
		comm := sched.Duration(r.IntN(3e8))
		s := 1 << r.IntN(6)
		u := float64(task.Fixed) + float64(task.PerSample)*float64(task.Batch)/float64(s)
		d := task.Overlap
		want := float64(s-1)*u + math.Pow(math.Pow(u, d)+math.Pow(float64(comm), d), 1/d)
		if got := task.iteration(s, comm); float64(got) < want-1e-3 || float64(got) > want*(1+1e-12)+1.001 {
			t.Errorf("seed %d: %+v, s = %d, communication %v: %d ns, want %v rounded up", seed, task, s, comm, got, want)
		}
	}
}

func TestIterationByHand(t *testing.T) {
	for _, c := range []struct {
		task Task
		s    int
		comm sched.Duration
		want sched.Duration
	}{
		{Task{Batch: 1, Fixed: 3, Overlap: 2}, 1, 4, 5}, // exactly, not 6
		{Task{Batch: 1, Fixed: 5_000_000_000, Overlap: 2}, 1, 12_000_000_000, 13_000_000_000},
		{Task{Batch: 7, PerSample: 10, Fixed: 1, Overlap: 1}, 1, 5, 76},          // a sum
		{Task{Batch: 7, PerSample: 10, Fixed: 1, Overlap: 1}, 2, 5, 77},          // 36 + 36 + 5
		{Task{Batch: 7, PerSample: 10, Fixed: 1, Overlap: 1}, 4, 5, 79},          // 3·18.5 + 18.5 + 5
		{Task{Batch: 7, PerSample: 10, Fixed: 1, Overlap: 3}, 8, 0, 78},          // 8·9.75
		{Task{Batch: 7, PerSample: 11, Fixed: 1, Overlap: 3}, 8, 0, 85},          // 8·(1 + 77/8) = 85
		{Task{Batch: 3, PerSample: 1, Fixed: 0, Overlap: 2}, 2, 0, 3},            // 2·1.5
		{Task{Batch: 1, Fixed: 1_000_000, Overlap: 64}, 1, 1_000_000, 1_010_890}, // 2^(1/64) = 1.0108892...
		{Task{Batch: 1, Fixed: 8, Overlap: 3}, 1, 6, 9},                          // 512 + 216 = 728 < 9³
		{Task{Batch: 1, Fixed: 9, Overlap: 3}, 1, 10, 13},                        // 729 + 1000 = 12³ + 1
	} {
		if got := c.task.iteration(c.s, c.comm); got != c.want {
			t.Errorf("%+v, s = %d, communication %d ns: %d ns, want %d ns", c.task, c.s, c.comm, got, c.want)
		}
	}
}

func TestPower(t *testing.T) {
	x := newFloat().SetFloat64(7)
	root := power(x, newFloat().SetFloat64(2.5)) // 49·√7
	square := newFloat().Mul(root, root)
	square.Sub(square, newFloat().SetInt64(16807)) // 7^5
	if square.Abs(square).Cmp(big.NewFloat(1e-45)) > 0 {
		t.Errorf("7^2.5 squared is off by %v", square)
	}
	if one := power(x, newFloat()); one.Cmp(big.NewFloat(1)) != 0 {
		t.Errorf("7^0 = %v", one)
	}
}

func TestSharing(t *testing.T) {
	w := window(t)
	o := sharingOptions()
	in := must(t)(Sharing(w, o))
	seen, of := map[string]int{}, map[string]string{}
	for i, j := range w.List() {
		got := &in.Jobs[i]
		task := tasks()[got.Sharing.Task]
		seen[task.Name]++
		if got.Model != task.Name || got.Gang() != j.Gang {
			t.Errorf("job %q of %d GPUs: %s on %d", j.ID, j.Gang, got.Model, got.Gang())
		}
		if name := of[j.Group]; j.Group != "" && name != "" && name != task.Name {
			t.Errorf("group %q is both %s and %s", j.Group, name, task.Name)
		}
		of[j.Group] = task.Name
		list := got.Sharing.Accumulation
		for k, a := range list {
			samples := (task.Batch + a.Steps - 1) / a.Steps
			if a.Memory != task.Base+task.Sample*sched.Bytes(samples) || a.Memory > o.GPUMemory.V {
				t.Errorf("job %q of %s in %d steps: %v", j.ID, task.Name, a.Steps, a.Memory)
			}
			if k > 0 && (a.Steps != 2*list[k-1].Steps || a.Iter < list[k-1].Iter || a.Memory > list[k-1].Memory) {
				t.Errorf("job %q: %+v after %+v", j.ID, a, list[k-1])
			}
		}
		if last := list[len(list)-1]; last.Steps < task.Batch || last.Steps >= 2*task.Batch {
			t.Errorf("job %q of %s: the last option has %d steps for a batch of %d", j.ID, task.Name, last.Steps, task.Batch)
		}
		first := list[0]
		// All of task c's 17 samples do not fit: 1.5 + 17·0.7 GB.
		if want := map[string]int{"a": 1, "b": 1, "c": 2}[task.Name]; first.Steps != want {
			t.Errorf("job %q of %s begins with %d steps, want %d", j.ID, task.Name, first.Steps, want)
		}
		if off := int64(first.Iter)*got.Iters - int64(j.Run); 2*max(off, -off) > int64(first.Iter) && got.Iters != 1 {
			t.Errorf("job %q ran for %v, has %d iterations of %v", j.ID, j.Run, got.Iters, first.Iter)
		}
	}
	if len(seen) != 3 {
		t.Errorf("tasks: %v", seen)
	}
}

func TestSharingExchange(t *testing.T) {
	c := cluster() // servers of 4; 1.25 GB/s between, 300 GB/s within
	task := Task{Local: Sync{7, 100}, Node: Sync{11, 1000}, Gradients: 1_000_000_000}
	for gang, want := range map[int]sched.Duration{
		1: 0,
		2: 7 + 3_333_334,               // 1 GB at 300 GB/s
		4: 7 + 2*100 + 5_000_000,       // 1.5 GB
		8: 11 + 6*1000 + 1_400_000_000, // 1.75 GB at 1.25 GB/s
	} {
		if got, err := task.exchange(&c, gang, 4); got != want || err != nil {
			t.Errorf("%d GPUs exchange in %v, want %v (%v)", gang, got, want, err)
		}
	}
}

func TestSharingTakesTheTracesModel(t *testing.T) {
	list := rows(40)
	for i := range list {
		list[i].Model = datasets.Some([]string{"B", "a", "resnet18"}[i%3])
	}
	w := windows(t, list, datasets.Slice{}, 1)[0]
	in := must(t)(Sharing(&w, sharingOptions()))
	other := map[string]bool{}
	for i := range in.Jobs {
		switch got := in.Jobs[i].Model; i % 3 {
		case 0, 1:
			if want := []string{"b", "a"}[i%3]; got != want {
				t.Errorf("job %d: %s, want %s", i, got, want)
			}
		default:
			other[got] = true
		}
	}
	if len(other) < 2 {
		t.Errorf("jobs of an unknown model are all of %v", other)
	}
}

// The built-in tasks take as long as the model that they are fitted by says.
func TestPolluxTasks(t *testing.T) {
	for _, gpu := range []string{"t4", "rtx", "dgx"} {
		list, err := PolluxTasks(gpu)
		if err != nil || len(list) != 6 {
			t.Fatalf("%d tasks (%v)", len(list), err)
		}
		c := cluster()
		for _, task := range list {
			if err := task.validate(); err != nil {
				t.Error(err)
			}
			a, err := throughput.FindBuiltin(task.Name, gpu)
			if err != nil {
				t.Fatal(err)
			}
			for gang, nodes := range map[int]int{1: 1, 2: 1, 4: 1, 5: 2, 16: 4} {
				want, err := a.IterTime(throughput.Point{Nodes: nodes, Replicas: gang, Batch: task.Batch})
				if err != nil {
					t.Fatal(err)
				}
				comm, err := task.exchange(&c, gang, 4)
				if err != nil {
					t.Fatal(err)
				}
				got := float64(task.iteration(1, comm)) / 1e9
				if math.Abs(got-want) > 1e-6*want+float64(gang+task.Batch)*1e-9 {
					t.Errorf("%s on %d %s: %v s, want %v s", task.Name, gang, gpu, got, want)
				}
			}
		}
	}
	if _, err := PolluxTasks("abacus"); err == nil {
		t.Error("there are parameters for an abacus")
	}
}

// Pythagorean triples: results that are whole are not rounded up by an error of
// the arithmetic.
func TestIterationOfTriples(t *testing.T) {
	for m := int64(2); m < 40; m++ {
		for n := int64(1); n < m; n++ {
			a, b, c := m*m-n*n, 2*m*n, m*m+n*n
			task := Task{Batch: 1, Fixed: sched.Duration(a), Overlap: 2}
			if got := task.iteration(1, sched.Duration(b)); int64(got) != c {
				t.Fatalf("√(%d² + %d²) = %d ns, want %d ns", a, b, got, c)
			}
		}
	}
}

// TestSharingSizes: a malleable job has its own gang with its own time, unless a
// smaller number of GPUs is as fast; sizes and memory are those of the formula,
// at every number of GPUs, and none that is faster than all smaller ones is
// missing.
func TestSharingSizes(t *testing.T) {
	c := cluster()
	tasks, err := PolluxTasks("rtx")
	if err != nil {
		t.Fatal(err)
	}
	gradients := tasks[1]
	gradients.Gradients = 200_000_000
	for _, task := range append(tasks, gradients) {
		for _, gang := range []int{1, 3, 8, 12} {
			for _, memory := range []sched.Bytes{11e9, 24e9} {
				list, err := task.sizes(&c, gang, 4, memory)
				if err != nil {
					t.Fatal(err)
				}
				var want []sched.Size
				for g := 1; g <= c.GPUs(); g++ {
					comm, err := task.exchange(&c, g, 4)
					if err != nil {
						t.Fatal(err)
					}
					for s := 1; ; s *= 2 {
						samples := math.Ceil(float64(task.Batch*gang) / float64(g*s))
						held := task.Base + task.Sample*sched.Bytes(samples)
						if held > memory {
							continue
						}
						u := float64(task.Fixed) + float64(task.PerSample)*float64(task.Batch*gang)/float64(g*s)
						iter := float64(s-1)*u + math.Pow(math.Pow(u, task.Overlap)+math.Pow(float64(comm), task.Overlap), 1/task.Overlap)
						if z := (sched.Size{GPUs: g, Iter: sched.Duration(math.Ceil(iter)), Memory: held}); len(want) == 0 || z.Iter < want[len(want)-1].Iter {
							want = append(want, z)
						}
						break
					}
				}
				if len(list) != len(want) {
					t.Fatalf("%s, gang %d: %d sizes, want %d", task.Name, gang, len(list), len(want))
				}
				for i := range list {
					off := math.Abs(float64(list[i].Iter - want[i].Iter))
					if list[i].GPUs != want[i].GPUs || list[i].Memory != want[i].Memory || off > 2+1e-12*float64(want[i].Iter) {
						t.Errorf("%s, gang %d: %+v, want %+v", task.Name, gang, list[i], want[i])
					}
				}
			}
		}
	}
}

// TestSharingKeys: rate, xi and pause change what they say and nothing else.
func TestSharingKeys(t *testing.T) {
	w := window(t)
	plain := must(t)(Sharing(w, sharingOptions()))
	o := sharingOptions()
	o.Rate, o.Xi, o.Pause, o.Malleable = datasets.Some(4.0), datasets.Some(1.5), 30*sched.Second, true
	in := must(t)(Sharing(w, o))
	for i := range in.Jobs {
		a, b := plain.Jobs[i], in.Jobs[i]
		if b.Release != a.Release/4 || b.Pause != 30*sched.Second || a.Pause != 0 || len(b.Sharing.Sizes) == 0 || a.Sharing.Sizes != nil {
			t.Fatalf("job %d: %+v became %+v", i, a, b)
		}
		if a.Iters != b.Iters || a.Stages[0] != b.Stages[0] || a.Sharing.Task != b.Sharing.Task {
			t.Fatalf("job %d: %+v became %+v", i, a, b)
		}
	}
	for _, row := range in.Interference {
		for _, xi := range row {
			if xi != 1.5 {
				t.Errorf("xi is %v", xi)
			}
		}
	}
	for _, bad := range []func(*SharingOptions){func(o *SharingOptions) { o.Xi = datasets.Some(0.9) }, func(o *SharingOptions) { o.Rate = datasets.Some(-1.0) },
		func(o *SharingOptions) { o.Rate = datasets.Some(1e9) }, func(o *SharingOptions) { o.Pause = -1 }} {
		o := sharingOptions()
		bad(&o)
		if _, err := Sharing(w, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestNoStorage: without storage nothing is loaded or saved, but processes may start; and
// the text of a storage reads as itself.
func TestNoStorage(t *testing.T) {
	for _, startup := range []sched.Time{0, 7 * sched.Second} {
		o := preemptiveOptions()
		o.Storage, o.Startup = datasets.Some(Storage{None: true}), startup
		for _, j := range must(t)(Preemptive(window(t), o)).Jobs {
			if j.Load != startup || j.Pause != 0 {
				t.Fatalf("load %v, pause %v, want %v and none", j.Load, j.Pause, startup)
			}
		}
	}
	for text, want := range map[string]Storage{"none": {None: true}, "2GB/s": {Bandwidth: 2e9}} {
		var s Storage
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want || s.String() != text {
			t.Errorf("%s is %+v, %v", text, s, err)
		}
	}
	for _, bad := range []string{"", "None", "0", "fast"} {
		var s Storage
		if err := s.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, s)
		}
	}
}
