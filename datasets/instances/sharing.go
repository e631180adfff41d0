package instances

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/interference"
	"yardstick/datasets/throughput"
	"yardstick/sched"
)

// SharingOptions say how a window becomes an instance of the sharing model.
// Round applies to releases alone.
type SharingOptions struct {
	Common

	// GPUMemory is the memory of every GPU; NULL takes the cluster's own, which
	// must then be there.
	GPUMemory datasets.Opt[sched.Bytes]

	Tasks []Task // that jobs are given; nil stands for PolluxTasks("rtx")

	// Interference[a][b] is xi of task a beside task b, in the order of Tasks,
	// as interference.Table.Matrix makes it; nil takes the tasks' names from
	// interference.Synthetic.
	Interference [][]float64

	// Table, if not nil, has xi by the tasks' names for one setting, in place of
	// Interference.
	Table *interference.Table

	rows [][]int // of the table, by task and logarithm of the steps; nil: a row for each task

	// Xi, if set, is the factor of every pair of tasks, in place of Interference, or
	// of those that Table lacks: at least 1.
	Xi datasets.Opt[float64]
	// Rate divides all releases, so that jobs come that many times as often; NULL
	// is 1. It does not go with OfferedLoad.
	Rate datasets.Opt[float64]
	// Pause is what saving a job's state takes at every preemption and change of
	// size, for policies that do either. With Round it is rounded up.
	Pause sched.Time
	// Malleable lists the numbers of GPUs that a job may run on: see
	// [sched.Size] and [Sharing].
	Malleable bool
}

// Task is a type of training job with its time and memory per number of
// samples, on one GPU.
type Task struct {
	Name  string
	Batch int // B, the mini-batch of one GPU, in samples

	// Computing takes Fixed + PerSample·b for a micro-batch of b samples.
	Fixed, PerSample sched.Duration
	// Synchronising G ≥ 2 GPUs takes the time that Local says, or Node if they
	// do not fit one server, and besides, 2(G−1)/G · Gradients bytes at the
	// bandwidth of the cluster within or between servers. Where the first
	// contains the second, Gradients is 0.
	Local, Node Sync
	Gradients   sched.Bytes
	// Overlap is delta, from 1, where communication adds to computing, to 64,
	// where the longer of the two hides the other.
	Overlap float64

	// A GPU holds Base + Sample·b bytes.
	Base, Sample sched.Bytes
}

// Sync is a time to synchronise that grows with the number of GPUs.
type Sync struct {
	Two  sched.Duration // with two GPUs
	Each sched.Duration // for each further one
}

// Bounds of Xi and Rate, beyond which they are typing errors.
const (
	maxXi   = 1000
	minRate = 1e-3
)

// maxOverlap bounds delta: beyond it the two times overlap entirely.
const maxOverlap = 64

func (t *Task) validate() error {
	switch {
	case t.Name == "" || t.Batch < 1 || t.Batch > 1<<24:
		return fmt.Errorf("task %q with a mini-batch of %d: it needs a name, and 1 to 2^24 samples", t.Name, t.Batch)
	case t.Fixed < 0 || t.PerSample < 0 || t.Fixed+t.PerSample == 0 || max(t.Fixed, t.PerSample) > 1e11:
		return fmt.Errorf("task %q: computing takes %v + %v per sample: neither may be negative or above %v, nor both 0s", t.Name, t.Fixed, t.PerSample, sched.Duration(1e11))
	case min(t.Local.Two, t.Local.Each, t.Node.Two, t.Node.Each) < 0 || max(t.Local.Two, t.Local.Each, t.Node.Two, t.Node.Each) > 1e14:
		return fmt.Errorf("task %q: synchronising takes %+v on one server and %+v on several: no time may be negative or above %v", t.Name, t.Local, t.Node, sched.Duration(1e14))
	case t.Gradients < 0 || t.Base < 0 || t.Sample < 0 || max(t.Gradients, t.Base, t.Sample) > 1e12:
		return fmt.Errorf("task %q: gradients %v, memory %v + %v per sample: each must be between 0B and 1TB", t.Name, t.Gradients, t.Base, t.Sample)
	case !(t.Overlap >= 1 && t.Overlap <= maxOverlap):
		return fmt.Errorf("task %q: overlap is %v: it must be between 1 and %d", t.Name, t.Overlap, maxOverlap)
	case int64(t.Batch) > 1e17/int64(t.PerSample+1) || int64(t.Batch) > 1e14/int64(t.Sample+1):
		return fmt.Errorf("task %q: %d samples of %v and %v each: too much", t.Name, t.Batch, t.PerSample, t.Sample)
	}
	return nil
}

// PolluxTasks lists the six tasks of the SJF-BSBF paper's section VI.A, which it
// takes from Pollux, on a GPU that throughput.Builtin has parameters for: t4,
// rtx or dgx. Times and overlap are fitted there to published measurements.
//
// Mini-batches and memory are made up, of the order of a GPU with 11 GB: the
// paper's Figures 2 and 3 show measurements, but it publishes no numbers.
//
// Errors: there are no parameters for the GPU.
func PolluxTasks(gpu string) ([]Task, error) {
	list := []Task{
		{Name: "bert", Batch: 12, Base: 2_600e6, Sample: 520e6},
		{Name: "cifar10", Batch: 128, Base: 900e6, Sample: 18e6},
		{Name: "deepspeech2", Batch: 20, Base: 1_500e6, Sample: 230e6},
		{Name: "imagenet", Batch: 64, Base: 1_200e6, Sample: 110e6},
		{Name: "ncf", Batch: 4096, Base: 1_400e6, Sample: 300e3},
		{Name: "yolov3", Batch: 16, Base: 1_700e6, Sample: 480e6},
	}
	for i := range list {
		t := &list[i]
		a, err := throughput.FindBuiltin(t.Name, gpu)
		if err != nil {
			return nil, err
		}
		t.Fixed, t.PerSample, t.Overlap = seconds(a.AlphaGrad), seconds(a.BetaGrad), a.Gamma
		t.Local = Sync{seconds(a.Local.Alpha), seconds(a.Local.Beta)}
		t.Node = Sync{seconds(a.Node.Alpha), seconds(a.Node.Beta)}
	}
	return list, nil
}

// HeavyTailed is [interference.HeavyTailed] for the tasks of PolluxTasks.
func HeavyTailed() (*interference.Table, error) {
	tasks, err := PolluxTasks("rtx")
	if err != nil {
		return nil, err
	}
	var sized []interference.Sized
	for i := range tasks {
		sized = append(sized, interference.Sized{Task: tasks[i].Name, Batch: tasks[i].Batch})
	}
	return interference.HeavyTailed(sized), nil
}

// seconds converts a time to whole nanoseconds, to the nearest.
func seconds(v float64) sched.Duration { return sched.Duration(math.Round(v * 1e9)) }

// Sharing makes an instance of the sharing model, as the SJF-BSBF paper's
// sections IV.A and VI.A do: each job is given a task, keeps the trace's GPUs,
// and may split its mini-batch B into s = 1, 2, 4, … micro-batches until they
// hold one sample. An iteration takes
//
//	t_iter(s) = (s−1) u + (u^delta + t_comm^delta)^(1/delta),  u = Fixed + PerSample·B/s,
//
// rounded up to a nanosecond, and ceil(B/s) samples are in memory (Eqs. (3),
// (4) and (7)). Options that do not fit into a GPU's memory are left out. The
// number of iterations is duration/t_iter(s), s being the least that is left,
// to the nearest whole number and at least 1.
//
// With Malleable, a job of G GPUs may also run on any other number g of them: its
// mini-batch of B·G samples is divided among the g, and each splits its share,
// of B·G/g, into the fewest micro-batches, in powers of two, that fit the memory.
// Sizes that are no faster than a smaller one are left out.
//
// Not in the source: a job whose trace names one of the tasks as its model
// keeps it; else the task is drawn uniformly, and jobs of a group share it.
// t_comm is that of [Task], on one server for a gang that fits the largest and
// on several for any other, wherever the job then runs; a single GPU has nothing
// to communicate. u divides B exactly, although
// a micro-batch has whole samples.
//
// Errors: a gang larger than the cluster; a task that does not fit the memory
// with one sample; a table of another size or below 1; whatever
// sched.Instance.Validate refuses.
func Sharing(w *datasets.Window, o SharingOptions) (*sched.Instance, error) {
	return o.finish(sharing(w, &o))
}

func sharing(w *datasets.Window, o *SharingOptions) (*sched.Instance, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	in, err := o.start(w, sched.ModelSharing, 1)
	if err != nil {
		return nil, err
	}
	in.Interference = o.Interference
	first := w.List()[0].Submit
	memory, largest := o.machine()
	type key struct{ task, gang int }
	options, sizes := map[key][]sched.Accumulation{}, map[key][]sched.Size{}
	accumulation := func(j *datasets.Job) (int, []sched.Accumulation, error) {
		k := key{o.task(w.Seed, j), j.Gang}
		if options[k] == nil {
			t := &o.Tasks[k.task]
			comm, err := t.exchange(&o.Cluster, j.Gang, largest)
			if err != nil {
				return 0, nil, fmt.Errorf("job %q: %w", j.ID, err)
			}
			options[k] = t.accumulation(comm, memory)
			if options[k] == nil {
				return 0, nil, fmt.Errorf("job %q: task %q needs %v for a single sample, and GPUs have %v", j.ID, t.Name, t.Base+t.Sample, memory)
			}
		}
		return k.task, options[k], nil
	}
	jobs, gpus := w.List(), o.Cluster.GPUs()
	for i := range jobs {
		j := &jobs[i]
		if err := gangFits(j, gpus); err != nil {
			return nil, err
		}
		task, list, err := accumulation(j)
		if err != nil {
			return nil, err
		}
		out := &in.Jobs[i]
		out.Model = o.Tasks[task].Name
		out.Stages = []sched.Stage{{Replicas: j.Gang, Compute: list[0].Iter}}
		out.Sharing = o.share(task, list)
		out.Iters = steps(j.Run, list[0].Iter)
		out.Pause = roundUp(o.Pause, o.Round)
		if o.Rate.OK {
			out.Release = sched.Time(float64(j.Submit-first) / o.Rate.V)
		}
		if k := (key{task, j.Gang}); o.Malleable {
			if sizes[k] == nil {
				if sizes[k], err = o.Tasks[task].sizes(&o.Cluster, j.Gang, largest, memory); err != nil {
					return nil, fmt.Errorf("job %q: %w", j.ID, err)
				}
			}
			out.Sharing.Sizes = sizes[k]
		}
	}
	for _, j := range w.Past(o.History) {
		_, list, err := accumulation(&j)
		if err != nil {
			return nil, err
		}
		in.History = append(in.History, sched.PastJob{User: j.User, Group: j.Group, Gang: j.Gang, Iters: steps(j.Run, list[0].Iter)})
	}
	return in, nil
}

func (o *SharingOptions) complete() error {
	if o.Tasks == nil {
		tasks, err := PolluxTasks("rtx")
		if err != nil {
			return err
		}
		o.Tasks = tasks
	}
	if len(o.Tasks) == 0 {
		return fmt.Errorf("there are no tasks to give to jobs")
	}
	var names []string
	for i := range o.Tasks {
		if err := o.Tasks[i].validate(); err != nil {
			return err
		}
		names = append(names, o.Tasks[i].Name)
	}
	switch {
	case o.Xi.OK && !(o.Xi.V >= 1 && o.Xi.V <= maxXi):
		return fmt.Errorf("xi is %v: it must be between 1 and %v", o.Xi.V, float64(maxXi))
	case o.Rate.OK && !(o.Rate.V >= minRate && o.Rate.V <= 1/minRate):
		return fmt.Errorf("rate is %v: it must be between %v and %v", o.Rate.V, minRate, 1/minRate)
	case o.Rate.OK && o.OfferedLoad.OK:
		return errors.New("rate and offeredLoad both say how often jobs come: drop one of the two")
	case o.GPUMemory.OK && o.GPUMemory.V <= 0:
		return fmt.Errorf("gpuMemory is %v: it must be positive", o.GPUMemory.V)
	case o.Pause < 0 || o.Pause > sched.MaxTime:
		return fmt.Errorf("pause is %v: it must be between 0s and %v", o.Pause, sched.MaxTime)
	}
	switch {
	case o.Table != nil:
		if err := o.lookUp(o.Table); err != nil {
			return err
		}
	case o.Xi.OK:
		o.Interference = make([][]float64, len(names))
		for a := range o.Interference {
			o.Interference[a] = slices.Repeat([]float64{o.Xi.V}, len(names))
		}
	case o.Interference == nil:
		if err := o.lookUp(interference.Synthetic()); err != nil {
			return err
		}
	}
	if o.rows == nil && len(o.Interference) != len(names) {
		return fmt.Errorf("the interference table has %d rows for %d tasks", len(o.Interference), len(names))
	}
	servers := make([]sched.Server, len(o.Cluster.Servers)) // not the caller's
	for i, s := range o.Cluster.Servers {
		if o.GPUMemory.OK {
			s.GPUMemory = o.GPUMemory.V
		}
		if s.GPUs > 0 && s.GPUMemory <= 0 {
			return fmt.Errorf("server %d has GPUs of %v: the sharing model needs their memory, such as gpuMemory: 24GB in a suite", i, s.GPUMemory)
		}
		servers[i] = s
	}
	o.Cluster.Servers = servers
	return nil
}

// share returns the sharing part of a job of a task with some options, with their rows of
// the table where it knows sizes of micro-batches.
func (o *SharingOptions) share(task int, list []sched.Accumulation) *sched.Sharing {
	sh := &sched.Sharing{Task: task, Accumulation: list}
	if o.rows == nil {
		return sh
	}
	for _, a := range list {
		sh.Rows = append(sh.Rows, o.rows[task][bits.Len(uint(a.Steps))-1])
	}
	sh.Task = o.rows[task][0]
	return sh
}

// lookUp takes the factors of the tasks from a table. A table with the tasks by the sizes
// of their micro-batches ([interference.WithBatch]), down to one sample, has a row for each.
func (o *SharingOptions) lookUp(table *interference.Table) (err error) {
	settings := table.Settings()
	known := map[string]bool{}
	if len(settings) == 1 {
		for _, name := range table.Tasks(settings[0]) {
			known[name] = true
		}
	}
	var names []string
	rows := make([][]int, len(o.Tasks))
	for i := range o.Tasks {
		t := &o.Tasks[i]
		sized := len(names)
		for s := 1; ; s *= 2 {
			samples := (t.Batch + s - 1) / s
			name := interference.WithBatch(t.Name, samples)
			if !known[name] {
				break
			}
			names = append(names, name)
			rows[i] = append(rows[i], len(names)-1)
			if samples == 1 {
				o.rows = rows
				break
			}
		}
		if k := len(names); k > sized && names[k-1] != interference.WithBatch(t.Name, 1) {
			return fmt.Errorf("the interference table has %q and not every half of it down to %q: a table by the sizes of micro-batches has all that a job may use", names[sized], interference.WithBatch(t.Name, 1))
		}
		if len(rows[i]) == 0 {
			names = append(names, t.Name)
			for s := 1; s < 2*t.Batch; s *= 2 {
				rows[i] = append(rows[i], len(names)-1)
			}
		}
	}
	if len(settings) != 1 {
		return fmt.Errorf("the interference table has %d settings: one is needed, as bench dataset interference writes with --gpu, --gpus and --placement", len(settings))
	}
	if o.Interference, _, err = table.Matrix(settings[0], names, o.Xi.V); err != nil {
		return fmt.Errorf("%w; --task of bench dataset interference gives tasks their names, and sharing.xi in a suite is for pairs that are missing", err)
	}
	return nil
}

// machine returns the least memory of a GPU and the GPUs of the largest server.
func (o *SharingOptions) machine() (memory sched.Bytes, largest int) {
	memory = math.MaxInt64
	for _, s := range o.Cluster.Servers {
		if s.GPUs > 0 {
			memory, largest = min(memory, s.GPUMemory), max(largest, s.GPUs)
		}
	}
	return memory, largest
}

// task returns the index of the job's task.
func (o *SharingOptions) task(seed uint64, j *datasets.Job) int {
	for i := range o.Tasks {
		if j.Model != "" && strings.EqualFold(o.Tasks[i].Name, j.Model) {
			return i
		}
	}
	return draw(seed, "task", kin(j)).IntN(len(o.Tasks))
}

// exchange returns t_comm of a gang, rounded up to a nanosecond.
func (t *Task) exchange(c *sched.Cluster, gang, largest int) (sched.Duration, error) {
	sync, bandwidth := t.Node, c.Inter
	if gang <= largest {
		sync, bandwidth = t.Local, c.Intra
	}
	if gang == 1 || bandwidth <= 0 {
		return 0, nil // Validate refuses such a bandwidth
	}
	volume := big.NewInt(2 * int64(gang-1) * int64(t.Gradients))
	volume.Mul(volume, big.NewInt(1e9))
	per := big.NewInt(int64(gang))
	per.Mul(per, big.NewInt(int64(bandwidth)))
	volume.Add(volume, per).Sub(volume, big.NewInt(1)).Quo(volume, per)
	volume.Add(volume, big.NewInt(int64(sync.Two))).Add(volume, big.NewInt(int64(gang-2)*int64(sync.Each)))
	if !volume.IsInt64() || volume.Int64() > 1e17 {
		return 0, fmt.Errorf("task %q synchronises %d GPUs in %v ns: too slow a network", t.Name, gang, volume)
	}
	return sched.Duration(volume.Int64()), nil
}

// accumulation returns the options that fit the memory.
func (t *Task) accumulation(comm sched.Duration, memory sched.Bytes) []sched.Accumulation {
	var list []sched.Accumulation
	for s := 1; ; s *= 2 {
		samples := (t.Batch + s - 1) / s
		if held := t.Base + t.Sample*sched.Bytes(samples); held <= memory {
			list = append(list, sched.Accumulation{Steps: s, Iter: t.iteration(s, comm), Memory: held})
		}
		if samples == 1 {
			return list
		}
	}
}

// sizes returns the numbers of GPUs that a job with a mini-batch of Batch samples
// on each of gang GPUs may run on.
//
// On several servers and with whole micro-batches, t_iter is convex in the number
// of GPUs: a norm of u, which is, and of t_comm, which is linear but for
// 2(g−1)/g of the gradients, which rise ever more slowly. Without gradients, where
// it rises it thus goes on rising, and the rest need not be computed.
func (t *Task) sizes(c *sched.Cluster, gang, largest int, memory sched.Bytes) ([]sched.Size, error) {
	var list []sched.Size
	all, before := int64(t.Batch)*int64(gang), sched.Duration(math.MaxInt64)
	for g := 1; g <= c.GPUs() && int64(g) <= all; g++ {
		comm, err := t.exchange(c, g, largest)
		if err != nil {
			return nil, err
		}
		s := 1
		held := func() sched.Bytes { return t.Base + t.Sample*sched.Bytes((all+int64(g*s)-1)/int64(g*s)) }
		for held() > memory {
			s *= 2 // ends: one sample fits
		}
		iter := t.split(big.NewRat(all, int64(g)), s, comm)
		if len(list) == 0 || iter < list[len(list)-1].Iter {
			list = append(list, sched.Size{GPUs: g, Iter: iter, Memory: held()})
		}
		if g > largest+1 && s == 1 && t.Gradients == 0 && iter > before {
			break
		}
		before = iter
		if s > 1 {
			before = math.MaxInt64 // it splits less from now on
		}
	}
	return list, nil
}

// iteration returns t_iter(s), rounded up to a nanosecond.
func (t *Task) iteration(s int, comm sched.Duration) sched.Duration {
	return t.split(big.NewRat(int64(t.Batch), 1), s, comm)
}

// split is iteration with another mini-batch on each GPU.
func (t *Task) split(batch *big.Rat, s int, comm sched.Duration) sched.Duration {
	u := new(big.Rat).Mul(batch, big.NewRat(int64(t.PerSample), int64(s)))
	u.Add(u, new(big.Rat).SetInt64(int64(t.Fixed)))
	before := new(big.Rat).Mul(u, new(big.Rat).SetInt64(int64(s-1)))
	total := overlap(u, comm, t.Overlap)
	return sched.Duration(ceil(total.Add(total, newFloat().SetRat(before))))
}

func (d *description) sharing() error {
	if err := d.gangs("iteration time"); err != nil {
		return err
	}
	var xi []float64
	for _, row := range d.in.Interference {
		xi = append(xi, row...)
	}
	var options []int
	var most, least []sched.Bytes
	for i := range d.in.Jobs {
		list := d.in.Jobs[i].Sharing.Accumulation
		options = append(options, len(list))
		most, least = append(most, list[0].Memory), append(least, list[len(list)-1].Memory)
	}
	d.line("interference", "%d tasks, xi %s", len(d.in.Interference), quantiles(xi))
	d.line("accumulation", "options per job %s", quantiles(options))
	d.line("  memory", "with the fewest steps %s", quantiles(most))
	d.line("", "with the most %s", quantiles(least))
	return nil
}
