package schedtest

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// SharingBruteForce returns an optimal schedule of class Ss, in which jobs start
// at slot boundaries and leave at the end of the slot in which they are done,
// and its cost. It is meant for up to four jobs of a few slots on up to four GPUs,
// without loads, and panics on other models.
//
// It goes through every accumulation option, set of GPUs and slot in which each
// job may start, and replays all of them slot by slot in rational numbers. Two
// things cut it short. Where all GPUs have the same memory, they may be renamed,
// so the first job takes the first ones. And a job is not started so late, nor
// are others added to jobs that are chosen, where the cost with every job not
// chosen completed as if alone reaches the best cost known: further jobs make
// nobody complete earlier.
func SharingBruteForce(in *sched.Instance, obj sched.Objective) (*sched.Schedule, *big.Rat) {
	if in.Model != sched.ModelSharing || in.Slot == 0 {
		panic("schedtest: only slotted instances of the sharing model")
	}
	b := &sharingBrute{in: in, obj: obj, cost: nil, completion: make([]sched.Time, len(in.Jobs))}
	alike := true
	for _, s := range in.Cluster.Servers {
		for range s.GPUs {
			b.memory = append(b.memory, s.GPUMemory)
		}
		alike = alike && s.GPUMemory == in.Cluster.Servers[0].GPUMemory
	}
	b.renamed = alike
	for id := range in.Jobs {
		if in.Jobs[id].Load > 0 {
			panic("schedtest: a job that loads")
		}
		b.completion[id] = b.alone(id)
	}
	b.next(0)
	if b.best == nil {
		panic(fmt.Sprintf("schedtest: a job of instance %q fits nowhere", in.Name))
	}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S, Slotted: true}}
	for id, r := range b.best {
		s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(id), Start: r.start, End: b.end[id], Phase: sched.Train, Place: b.place(&r)})
	}
	s.Sort()
	return s, b.cost
}

// run is a job's option, GPUs and start.
type run struct {
	option *sched.Accumulation
	gpus   []int
	start  sched.Time
}

type sharingBrute struct {
	in         *sched.Instance
	obj        sched.Objective
	memory     []sched.Bytes // of each GPU
	renamed    bool
	chosen     []run
	completion []sched.Time // of the jobs chosen; the earliest conceivable of the others
	best       []run
	end        []sched.Time
	cost       *big.Rat
}

// slots returns the least multiple of the slot that is not less than t.
func (b *sharingBrute) slots(t sched.Time) sched.Time {
	return (t + b.in.Slot - 1) / b.in.Slot * b.in.Slot
}

// alone returns when a job is done if it is alone with its fastest option.
func (b *sharingBrute) alone(id int) sched.Time {
	j := &b.in.Jobs[id]
	iter := j.Sharing.Accumulation[0].Iter
	for _, a := range j.Sharing.Accumulation {
		iter = min(iter, a.Iter)
	}
	work := sched.Time((j.Iters*int64(iter) + 999) / 1000)
	return b.slots(j.Release) + b.slots(work)
}

func (b *sharingBrute) hopeless() bool {
	return b.cost != nil && b.obj.Cost(b.in, b.completion).Cmp(b.cost) >= 0
}

// next chooses for the jobs from id on.
func (b *sharingBrute) next(id int) {
	if b.hopeless() {
		return
	}
	if id == len(b.in.Jobs) {
		b.best, b.end = slices.Clone(b.chosen), slices.Clone(b.completion)
		b.cost = b.obj.Cost(b.in, b.completion)
		return
	}
	before := slices.Clone(b.completion)
	j := &b.in.Jobs[id]
	alone := b.alone(id) - b.slots(j.Release)
	for start := b.slots(j.Release); ; start += b.in.Slot {
		b.completion[id] = start + alone
		if b.hopeless() {
			break
		}
		for k := range j.Sharing.Accumulation {
			subsets(len(b.memory), j.Gang(), func(gpus []int) bool {
				b.chosen = append(b.chosen, run{&j.Sharing.Accumulation[k], slices.Clone(gpus), start})
				if b.replay() {
					b.next(id + 1)
				}
				b.chosen = b.chosen[:id]
				copy(b.completion, before)
				return id > 0 || !b.renamed
			})
		}
		if b.cost == nil && start > sched.MaxTime/2 {
			panic("schedtest: no schedule found")
		}
	}
	copy(b.completion, before)
}

// subsets calls f with every set of k of the numbers below n, until it returns
// false.
func subsets(n, k int, f func([]int) bool) {
	set := make([]int, 0, k)
	var choose func(from int) bool
	choose = func(from int) bool {
		if len(set) == k {
			return f(set)
		}
		for i := from; i < n; i++ {
			set = append(set, i)
			if !choose(i + 1) {
				return false
			}
			set = set[:len(set)-1]
		}
		return true
	}
	choose(0)
}

// row returns the row of the interference table of a chosen job, with its option.
func (b *sharingBrute) row(i int) int {
	sh := b.in.Jobs[i].Sharing
	for k := range sh.Rows {
		if &sh.Accumulation[k] == b.chosen[i].option {
			return sh.Rows[k]
		}
	}
	return sh.Task
}

// replay computes the completions of the jobs chosen, slot by slot, or returns
// false if some GPU has too many of them or too little memory.
func (b *sharingBrute) replay() bool {
	done := make([]*big.Rat, len(b.chosen))
	for i := range done {
		done[i] = new(big.Rat)
	}
	left := len(b.chosen)
	for now := sched.Time(0); left > 0; now += b.in.Slot {
		on := make([][]int, len(b.memory))
		for i, r := range b.chosen {
			if done[i] != nil && r.start <= now {
				for _, g := range r.gpus {
					on[g] = append(on[g], i)
				}
			}
		}
		xi := make([]float64, len(b.chosen))
		for g, jobs := range on {
			room := b.memory[g]
			for _, i := range jobs {
				room -= b.chosen[i].option.Memory // below 0 at most once: there are two jobs
				xi[i] = max(xi[i], 1)
				for _, k := range jobs {
					if i != k {
						xi[i] = max(xi[i], b.in.Interference[b.row(i)][b.row(k)])
					}
				}
			}
			if len(jobs) > 2 || room < 0 {
				return false
			}
		}
		for i, r := range b.chosen {
			if xi[i] == 0 {
				continue
			}
			step := new(big.Rat).SetFloat64(xi[i])
			step.Mul(step, big.NewRat(int64(r.option.Iter), 1000))
			done[i].Add(done[i], step.Quo(big.NewRat(int64(b.in.Slot), 1), step))
			if done[i].Cmp(big.NewRat(b.in.Jobs[i].Iters, 1)) >= 0 {
				done[i], b.completion[i] = nil, now+b.in.Slot
				left--
			}
		}
	}
	return true
}

func (b *sharingBrute) place(r *run) sched.Placement {
	p := sched.Placement{Config: &sched.Config{Accumulation: r.option.Steps}}
	first := 0
	for m, s := range b.in.Cluster.Servers {
		var devices []int
		for _, g := range r.gpus {
			if g >= first && g < first+s.GPUs {
				devices = append(devices, g-first)
			}
		}
		if len(devices) > 0 {
			p.Shares = append(p.Shares, sched.Share{Server: m, GPUs: len(devices), Devices: devices})
		}
		first += s.GPUs
	}
	return p
}

// Slots describes random slotted instances of the sharing model.
type Slots struct {
	Jobs    int
	Servers []int   // GPUs of each
	Work    [2]int  // slots that a job needs alone with its first option: least and most
	Span    int     // jobs are released in the slots up to it
	Gang    int     // the most GPUs of a job
	Xi      float64 // factors are between 1 and Xi
	Options int     // the most accumulation options, 1 or 2: the second needs a slot more and half the memory
	Ragged  bool    // work need not fill slots
}

// SlottedSharing returns a random instance: three tasks, and slots of a second.
// With a second option the first may leave no memory for another job.
func SlottedSharing(seed uint64, s Slots) *sched.Instance {
	r := Rand(seed)
	in := &sched.Instance{Name: "slots", Model: sched.ModelSharing, Slot: sched.Second, Cluster: Servers(s.Servers...)}
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = 10
	}
	for range 3 {
		var row []float64
		for range 3 {
			row = append(row, 1+(s.Xi-1)*r.Float64())
		}
		in.Interference = append(in.Interference, row)
	}
	for range s.Jobs {
		work := s.Work[0] + r.IntN(s.Work[1]-s.Work[0]+1)
		j := Job(sched.Second*sched.Time(r.IntN(s.Span+1)), 1+r.IntN(s.Gang), sched.Second)
		j.Iters = 1_000_000
		iter := sched.Duration(work * 1000)
		if s.Ragged {
			iter -= sched.Duration(r.IntN(1000))
		}
		j.Sharing = &sched.Sharing{Task: r.IntN(3), Accumulation: []sched.Accumulation{{Steps: 1, Iter: iter, Memory: 5}}}
		if s.Options > 1 && r.IntN(2) == 0 {
			j.Sharing.Accumulation[0].Memory += sched.Bytes(r.IntN(5))
			j.Sharing.Accumulation = append(j.Sharing.Accumulation, sched.Accumulation{Steps: 2, Iter: iter + 1000, Memory: 3})
		}
		in.Jobs = append(in.Jobs, j)
	}
	must(in)
	return in
}

// SmallSharing returns instances in slots that enumeration can solve, of different
// kinds.
func SmallSharing(seed uint64) *sched.Instance {
	s := Slots{Jobs: 2 + int(seed%2), Servers: []int{2, 1}, Work: [2]int{1, 5}, Span: 3, Gang: 3, Xi: 1 + float64(seed%5)/2,
		Options: 1 + int(seed/2%2), Ragged: seed%3 == 0}
	if seed%7 == 0 {
		s.Servers, s.Gang = []int{2}, 2
	}
	in := SlottedSharing(seed, s)
	for i := range in.Jobs {
		in.Jobs[i].Weight = float64(1+(int(seed)+3*i)%5) + 0.1*float64(seed%2)
		if seed%4 == 3 {
			in.Interference = [][]float64{{1.5, 1, 2}, {1.25, 1.5, 1}, {2, 3, 1}} // work that ends with a slot
		}
	}
	return in
}
