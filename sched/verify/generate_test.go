package verify_test

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"yardstick/sched"
)

// options says what kind of random instance and schedule to make.
type options struct {
	model sched.Model
	class sched.Class
}

func allOptions() []options {
	var out []options
	for _, slotted := range []bool{false, true} {
		out = append(out,
			options{sched.ModelGang, sched.Class{Kind: sched.N, Slotted: slotted}},
			options{sched.ModelPreemptive, sched.Class{Kind: sched.N, Slotted: slotted}},
			options{sched.ModelPreemptive, sched.Class{Kind: sched.P, Slotted: slotted}},
			options{sched.ModelSharing, sched.Class{Kind: sched.N, Slotted: slotted}},
			options{sched.ModelSharing, sched.Class{Kind: sched.S, Slotted: slotted}},
			options{sched.ModelSharing, sched.Class{Kind: sched.P, Slotted: slotted}},
			options{sched.ModelSharing, sched.Class{Kind: sched.M, Slotted: slotted}})
	}
	return out
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// between returns a random integer from low to high, both included.
func between(r *rand.Rand, low, high int) int { return low + r.IntN(high-low+1) }

// randomInstance returns an instance whose jobs take some tens of
// microseconds, so that it can be checked microsecond by microsecond.
func randomInstance(r *rand.Rand, o options) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: o.model, Cluster: sched.Cluster{Inter: sched.Bandwidth(between(r, 5e8, 2e9)), Intra: sched.Bandwidth(between(r, 2e9, 2e10))}}
	for range between(r, 1, 3) {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: between(r, 1, 4), GPUMemory: sched.Bytes(between(r, 60, 100))})
	}
	if o.class.Slotted {
		in.Slot = sched.Time(between(r, 2, 7))
	}
	if r.IntN(8) == 0 {
		in.Deadline = 50
	}
	tasks := between(r, 1, 3)
	if o.model == sched.ModelSharing {
		factors := []float64{1, 1.1, 1.25, 1.5, 2.7, 1 + 1.0/(1<<52)}
		for a := range tasks {
			in.Interference = append(in.Interference, nil)
			for range tasks {
				in.Interference[a] = append(in.Interference[a], factors[r.IntN(len(factors))])
			}
		}
	}
	for range between(r, 1, 4) {
		in.Jobs = append(in.Jobs, randomJob(r, o, in.Cluster.GPUs(), tasks))
		if o.model != sched.ModelSharing && r.IntN(2) == 0 {
			slice(r, in, &in.Jobs[len(in.Jobs)-1])
		}
	}
	return in
}

// slice joins replicas of some stages to replicas of several slices, where the
// job then still fits, and makes the stages a graph half the time.
func slice(r *rand.Rand, in *sched.Instance, j *sched.Job) {
	for s := range j.Stages {
		st, before := &j.Stages[s], j.Stages[s]
		if t := between(r, 1, 4); st.Replicas%t == 0 {
			st.Replicas, st.Slices, st.SliceSync = st.Replicas/t, t, sched.Bytes(between(r, 0, 2000))
		}
		alone := *in
		alone.Jobs = []sched.Job{*j}
		if alone.Validate() != nil {
			*st = before
		}
	}
	if len(j.Stages) < 2 || r.IntN(2) == 0 {
		return
	}
	for s := range j.Stages {
		j.Stages[s].Boundary = 0
		for u := s + 1; u < len(j.Stages); u++ {
			if r.IntN(3) > 0 {
				j.Edges = append(j.Edges, sched.Edge{From: s, To: u, Bytes: sched.Bytes(between(r, 0, 2000))})
			}
		}
	}
}

func randomJob(r *rand.Rand, o options, gpus, tasks int) sched.Job {
	j := sched.Job{Release: sched.Time(r.IntN(40)), Weight: []float64{1, 2, 0.3, 1e-3}[r.IntN(4)], Iters: int64(between(r, 1, 6))}
	gang := between(r, 1, min(gpus, 5))
	for gang > 0 {
		k := between(r, 1, gang)
		gang -= k
		st := sched.Stage{Replicas: k, Compute: sched.Duration(between(r, 1000, 5000))}
		if r.IntN(2) == 0 {
			st.Params = sched.Bytes(between(r, 0, 3000))
		}
		if gang > 0 {
			st.Boundary = sched.Bytes(between(r, 0, 2000))
		}
		j.Stages = append(j.Stages, st)
	}
	if r.IntN(3) > 0 {
		j.Load = sched.Time(r.IntN(6))
		j.Pause = sched.Time(r.IntN(4))
	}
	if o.model == sched.ModelSharing {
		j.Sharing = &sched.Sharing{Task: r.IntN(tasks)}
		if o.class.Kind == sched.M {
			j.Stages = []sched.Stage{{Replicas: j.Gang(), Compute: 1000}}
			for g := between(r, 1, gpus); g <= gpus; g += between(r, 1, 3) {
				j.Sharing.Sizes = append(j.Sharing.Sizes, sched.Size{GPUs: g, Iter: sched.Duration(between(r, 1000, 9000)), Memory: sched.Bytes(between(r, 20, 55))})
			}
		}
		for s := range between(r, 1, 2) {
			j.Sharing.Accumulation = append(j.Sharing.Accumulation, sched.Accumulation{
				Steps: 1 + s, Iter: sched.Duration(between(r, 1000, 9000)), Memory: sched.Bytes(between(r, 20, 55))})
		}
		if r.IntN(3) == 0 { // interference by accumulation
			for range j.Sharing.Accumulation {
				j.Sharing.Rows = append(j.Sharing.Rows, r.IntN(tasks))
			}
		}
	}
	return j
}

// runner makes a random legal schedule one microsecond at a time.
type runner struct {
	*rand.Rand
	in    *sched.Instance
	class sched.Class
	now   sched.Time
	s     *sched.Schedule
	jobs  []running
}

type running struct {
	state string // waiting, load, train, pause, done
	since sched.Time
	place sched.Placement
	done  *big.Rat // iterations
}

// randomSchedule returns a legal schedule of the class. Jobs start, are
// preempted and have their segments split at random.
func randomSchedule(r *rand.Rand, in *sched.Instance, class sched.Class) *sched.Schedule {
	run := &runner{Rand: r, in: in, class: class, s: &sched.Schedule{Class: class}, jobs: make([]running, len(in.Jobs))}
	left := 0
	for j := range run.jobs {
		run.jobs[j] = running{state: "waiting", done: new(big.Rat)}
		left++
		if in.Deadline > 0 && r.IntN(3) == 0 {
			run.jobs[j].state = "done" // left out
			left--
		}
	}
	for left > 0 {
		boundary := !class.Slotted || run.now%in.Slot == 0
		for _, j := range r.Perm(len(in.Jobs)) {
			if run.step(sched.JobID(j), boundary) {
				left--
			}
		}
		for j := range run.jobs {
			if run.jobs[j].state == "train" {
				run.jobs[j].done.Add(run.jobs[j].done, run.rate(sched.JobID(j)))
			}
		}
		run.now++
	}
	run.s.Sort()
	return run.s
}

// close ends the segment that the job is in.
func (run *runner) close(id sched.JobID, phase sched.Phase) {
	x := &run.jobs[id]
	if x.since < run.now {
		run.s.Segments = append(run.s.Segments, sched.Segment{Job: id, Start: x.since, End: run.now, Phase: phase, Place: x.place})
	}
	x.since = run.now
}

// step lets the job change its state at the present instant, and reports
// whether it completes.
func (run *runner) step(id sched.JobID, boundary bool) bool {
	x, j := &run.jobs[id], &run.in.Jobs[id]
	preempts := (run.class.Kind == sched.P || run.class.Kind == sched.M) && boundary && run.now > x.since && run.IntN(8) == 0
	switch x.state {
	case "load":
		if run.now == x.since+j.Load {
			run.close(id, sched.Load)
			x.state = "train"
		} else if preempts {
			run.close(id, sched.Load)
			x.state = "waiting"
		}
	case "train":
		if x.done.Cmp(new(big.Rat).SetInt64(j.Iters)) >= 0 && boundary {
			run.close(id, sched.Train)
			x.state = "done"
			return true
		} else if preempts {
			run.close(id, sched.Train)
			x.state = "pause"
			if j.Pause == 0 {
				x.state = "waiting"
			}
		} else if run.IntN(20) == 0 {
			run.close(id, sched.Train)
		}
	case "pause":
		if run.now == x.since+j.Pause {
			run.close(id, sched.Pause)
			x.state = "waiting"
		}
	}
	if x.state == "waiting" && boundary && run.now >= j.Release && run.IntN(3) == 0 {
		if p := run.free(id); p != nil {
			x.place, x.since, x.state = *p, run.now, "load"
			if j.Load == 0 {
				x.state = "train"
			}
		}
	}
	return false
}

// users returns the jobs that hold a device. Exclusive jobs without named
// devices have some all the same: their placements are made with names.
func (run *runner) users(server, device int) []sched.JobID {
	var out []sched.JobID
	for id := range run.jobs {
		if s := run.jobs[id].state; s == "waiting" || s == "done" {
			continue
		}
		for _, sh := range run.jobs[id].place.Shares {
			for _, d := range sh.Devices {
				if sh.Server == server && d == device {
					out = append(out, sched.JobID(id))
				}
			}
		}
	}
	return out
}

// free returns a random placement on devices that may be used now, or nil.
func (run *runner) free(id sched.JobID) *sched.Placement {
	j, stages := &run.in.Jobs[id], run.in.Jobs[id].Stages
	var p sched.Placement
	memory := sched.Bytes(0)
	if run.class.Kind == sched.M { // all sizes fit the memory
		stages = []sched.Stage{{Replicas: j.Sharing.Sizes[run.IntN(len(j.Sharing.Sizes))].GPUs}}
	} else if j.Sharing != nil {
		option := run.IntN(len(j.Sharing.Accumulation))
		memory = j.Sharing.Accumulation[option].Memory
		if option > 0 || run.IntN(2) == 0 {
			p.Config = &sched.Config{Accumulation: j.Sharing.Accumulation[option].Steps}
		}
	}
	usable, count := make([][]int, len(run.in.Cluster.Servers)), 0
	for m, server := range run.in.Cluster.Servers {
		for d := range server.GPUs {
			users, used := run.users(m, d), memory
			for _, u := range users {
				if j.Sharing != nil {
					used += run.option(u).Memory
				}
			}
			if len(users) == 0 || run.class.Kind == sched.S && len(users) == 1 && used <= server.GPUMemory {
				usable[m] = append(usable[m], d)
				count++
			}
		}
	}
	if gang := (&sched.Job{Stages: stages}).Gang(); count < gang {
		return nil
	}
	shares := make([]sched.Share, len(usable))
	for m := range usable {
		run.Shuffle(len(usable[m]), func(a, b int) { usable[m][a], usable[m][b] = usable[m][b], usable[m][a] })
		shares[m] = sched.Share{Server: m, Stages: make([]int, len(stages))}
	}
	for s := range stages {
		t := max(1, stages[s].Slices)
		for range stages[s].Replicas {
			var room []int // servers with room for a replica
			for m := range usable {
				if len(usable[m]) >= t {
					room = append(room, m)
				}
			}
			if room == nil {
				return nil
			}
			m := room[run.IntN(len(room))]
			sh := &shares[m]
			sh.Devices, usable[m] = append(sh.Devices, usable[m][:t]...), usable[m][t:]
			sh.Stages[s]++
			sh.GPUs += t
		}
	}
	for _, sh := range shares {
		slices.Sort(sh.Devices)
		if len(stages) == 1 && stages[0].Slices < 2 && run.IntN(2) == 0 {
			sh.Stages = nil
		}
		if sh.GPUs > 0 {
			p.Shares = append(p.Shares, sh)
		}
	}
	return &p
}

func (run *runner) option(id sched.JobID) sched.Accumulation {
	options := run.in.Jobs[id].Sharing.Accumulation
	for _, a := range options {
		if cf := run.jobs[id].place.Config; cf != nil && cf.Accumulation == a.Steps {
			return a
		}
	}
	return options[0]
}

// row is where a job is in the table of interference, as it is placed.
func (run *runner) row(id sched.JobID) int {
	return (&naive{in: run.in}).row(&sched.Segment{Job: id, Place: run.jobs[id].place})
}

// rate returns the iterations that a job in training makes in the microsecond
// that begins now.
func (run *runner) rate(id sched.JobID) *big.Rat {
	alpha := (&naive{in: run.in, s: run.s}).iterTime(&sched.Segment{Job: id, Place: run.jobs[id].place})
	xi := 1.0
	for _, sh := range run.jobs[id].place.Shares {
		for _, d := range sh.Devices {
			for _, u := range run.users(sh.Server, d) {
				if u != id && run.class.Kind == sched.S {
					xi = max(xi, run.in.Interference[run.row(id)][run.row(u)])
				}
			}
		}
	}
	per := new(big.Rat).SetFloat64(xi)
	per.Mul(per, alpha)
	return new(big.Rat).Quo(big.NewRat(1, 1e6), per)
}

// anonymous returns the schedule without its devices, which exclusive
// schedules need not name.
func anonymous(s *sched.Schedule) *sched.Schedule {
	out := &sched.Schedule{Class: s.Class, Segments: append([]sched.Segment(nil), s.Segments...)}
	for i := range out.Segments {
		seg := &out.Segments[i]
		seg.Place.Shares = append([]sched.Share(nil), seg.Place.Shares...)
		for k := range seg.Place.Shares {
			seg.Place.Shares[k].Devices = nil
		}
	}
	return out
}
