package sim_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// kindOfRun is a model, a class and whether decisions are slotted.
type kindOfRun struct {
	model   sched.Model
	kind    sched.Kind
	slotted bool
}

var kindsOfRun = []kindOfRun{
	{sched.ModelGang, sched.N, false}, {sched.ModelGang, sched.N, true},
	{sched.ModelPreemptive, sched.N, false}, {sched.ModelPreemptive, sched.P, false}, {sched.ModelPreemptive, sched.P, true},
	{sched.ModelSharing, sched.N, false}, {sched.ModelSharing, sched.S, false}, {sched.ModelSharing, sched.S, true},
	{sched.ModelSharing, sched.P, false}, {sched.ModelSharing, sched.M, false}, {sched.ModelSharing, sched.M, true},
}

// randomInstance returns a few jobs of a few microseconds on a small
// heterogeneous cluster, so that many things happen at once.
func randomInstance(rng *rand.Rand, k kindOfRun) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: k.model, Slot: sched.Time(1 + rng.IntN(6)),
		Cluster: sched.Cluster{Inter: sched.Bandwidth(1e9 + rng.IntN(1e9)), Intra: 1e10}}
	for range 1 + rng.IntN(3) {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 1 + rng.IntN(4), GPUMemory: sched.Bytes(60 + rng.IntN(40))})
	}
	tasks := 1 + rng.IntN(3)
	if k.model == sched.ModelSharing {
		in.Interference = make([][]float64, tasks)
		for a := range in.Interference {
			for range tasks {
				in.Interference[a] = append(in.Interference[a], []float64{1, 1.1, 1.3, 1.75, 3}[rng.IntN(5)])
			}
		}
	}
	for range 1 + rng.IntN(8) {
		in.Jobs = append(in.Jobs, randomJob(rng, in, k, tasks))
	}
	if k.model != sched.ModelSharing && rng.IntN(2) == 0 {
		in = schedtest.Sliced(rng, in, 1, 2, 3)
	}
	return in
}

func randomJob(rng *rand.Rand, in *sched.Instance, k kindOfRun, tasks int) sched.Job {
	j := sched.Job{Release: sched.Time(rng.IntN(20)), Weight: 1, Iters: int64(1 + rng.IntN(9))}
	for room := 1 + rng.IntN(min(6, in.Cluster.GPUs())); room > 0; {
		s := sched.Stage{Replicas: 1 + rng.IntN(room), Compute: sched.Duration(200 + rng.IntN(3000)), Params: sched.Bytes(rng.IntN(2) * rng.IntN(900))}
		if room -= s.Replicas; room > 0 {
			s.Boundary = sched.Bytes(rng.IntN(900))
		}
		j.Stages = append(j.Stages, s)
	}
	if rng.IntN(3) > 0 {
		j.Load, j.Pause = sched.Time(rng.IntN(5)), sched.Time(rng.IntN(4))
	}
	if k.model == sched.ModelSharing {
		j.Sharing = &sched.Sharing{Task: rng.IntN(tasks)}
		for steps := range 1 + rng.IntN(2) {
			j.Sharing.Accumulation = append(j.Sharing.Accumulation, sched.Accumulation{
				Steps: 1 + steps, Iter: sched.Duration(500 + rng.IntN(3000)), Memory: sched.Bytes(20 + rng.IntN(30))})
		}
		for rows := rng.IntN(3) == 0; rows && len(j.Sharing.Rows) < len(j.Sharing.Accumulation); {
			j.Sharing.Rows = append(j.Sharing.Rows, rng.IntN(tasks))
		}
		if k.kind == sched.M {
			j.Stages = []sched.Stage{{Replicas: j.Gang(), Compute: 1000}}
			j.Sharing.Sizes = randomSizes(rng, in.Cluster.GPUs())
		}
	}
	return j
}

// randomSizes returns at least one size.
func randomSizes(rng *rand.Rand, gpus int) []sched.Size {
	var out []sched.Size
	for g := 1 + rng.IntN(gpus); g <= gpus; g += 1 + rng.IntN(3) {
		out = append(out, sched.Size{GPUs: g, Iter: sched.Duration(500 + rng.IntN(3000)), Memory: sched.Bytes(20 + rng.IntN(30))})
	}
	return out
}

// gambler starts, preempts and sleeps at random. It keeps its own account of
// the jobs and fails when the view tells a different story.
type gambler struct {
	*rand.Rand
	kind    sched.Kind
	waiting []sched.JobID
	running []sched.JobID
	now     sched.Time
	again   bool // the last decision freed GPUs at once
	asked   map[sched.Time]bool
}

func (g *gambler) Name() string       { return "gambler" }
func (g *gambler) Class() sched.Class { return sched.Class{Kind: g.kind} }

func (g *gambler) Decide(v *sim.View) (sim.Decision, error) {
	if v.Now() <= g.now && !(v.Now() == g.now && (g.again || g.now == 0)) {
		return sim.Decision{}, fmt.Errorf("asked at %v after %v", v.Now(), g.now)
	}
	g.now, g.again = v.Now(), false
	g.asked[g.now] = true
	if err := g.account(v); err != nil {
		return sim.Decision{}, err
	}
	var d sim.Decision
	if (g.kind == sched.P || g.kind == sched.M) && g.IntN(2) == 0 {
		g.preempt(v, &d)
	}
	g.Shuffle(len(g.waiting), func(a, b int) { g.waiting[a], g.waiting[b] = g.waiting[b], g.waiting[a] })
	var still []sched.JobID
	for _, id := range g.waiting {
		p, ok, err := g.place(v, id)
		switch {
		case err != nil:
			return d, err
		case ok:
			d.Start = append(d.Start, sim.Assignment{Job: id, Place: p})
			g.running = append(g.running, id)
		default:
			still = append(still, id)
		}
	}
	g.waiting = still
	if len(g.waiting) > 0 || g.IntN(4) == 0 {
		d.Wake = v.Now() + sched.Time(1+g.IntN(8))
	}
	return d, nil
}

// account updates the lists from the view and checks them against it.
func (g *gambler) account(v *sim.View) error {
	g.waiting = append(append(g.waiting, v.Arrived()...), v.Paused()...)
	gone := func(id sched.JobID) bool {
		return slices.Contains(v.Completed(), id) || slices.Contains(v.Paused(), id)
	}
	g.running = slices.DeleteFunc(g.running, gone)
	busy := 0
	for _, id := range g.running {
		p, ok, err := v.Placement(id)
		if err != nil || !ok {
			return fmt.Errorf("no placement of running job %d: %w", id, err)
		}
		busy += p.GPUs()
	}
	if c := v.Cluster(); g.kind != sched.S && busy+c.Free() != c.GPUs() {
		return fmt.Errorf("%d GPUs are busy and %d free of %d", busy, c.Free(), c.GPUs())
	}
	for _, id := range g.waiting {
		if s, err := v.State(id); err != nil || s != sim.Waiting {
			return fmt.Errorf("job %d is %v, not waiting: %w", id, s, err)
		}
	}
	for _, id := range v.Completed() {
		if s, err := v.State(id); err != nil || s != sim.Done {
			return fmt.Errorf("job %d is %v, not done: %w", id, s, err)
		}
	}
	return nil
}

func (g *gambler) preempt(v *sim.View, d *sim.Decision) {
	if len(v.Paused()) > 0 {
		return // perhaps asked again in one instant, in which jobs have been started
	}
	for _, id := range g.running {
		if s, _ := v.State(id); (s == sim.Loading || s == sim.Training) && g.IntN(3) == 0 {
			d.Preempt = append(d.Preempt, id)
			g.again = true // if it waits again at once
		}
	}
}

func (g *gambler) place(v *sim.View, id sched.JobID) (sched.Placement, bool, error) {
	if g.IntN(4) == 0 {
		return sched.Placement{}, false, nil
	}
	j, err := v.Job(id)
	if err != nil {
		return sched.Placement{}, false, err
	}
	if g.kind == sched.M {
		sizes := j.Sharing.Sizes
		shares, ok := v.Cluster().Pick(sim.Rule(g.IntN(5)), sizes[g.IntN(len(sizes))].GPUs)
		if p := (sched.Placement{Shares: shares}); ok {
			return p, true, v.Hold(id, p)
		}
		return sched.Placement{}, false, nil
	}
	if g.kind == sched.S || j.Widths == nil && g.IntN(2) == 0 {
		return g.ownPlacement(v, id)
	}
	return v.Place(id, sim.Rule(g.IntN(5)))
}

// ownPlacement spreads the job's replicas over random GPUs and, in class S,
// picks devices that a job may already hold.
func (g *gambler) ownPlacement(v *sim.View, id sched.JobID) (sched.Placement, bool, error) {
	j, err := v.Job(id)
	if err != nil {
		return sched.Placement{}, false, err
	}
	var gpus [][2]int // server, device
	for s := range v.Cluster().Servers() {
		if g.kind == sched.S {
			for d := range v.Cluster().Size(s) {
				if len(v.Cluster().On(s, d)) < 2 {
					gpus = append(gpus, [2]int{s, d})
				}
			}
			continue
		}
		for range v.Cluster().FreeOn(s) {
			gpus = append(gpus, [2]int{s, 0})
		}
	}
	if len(gpus) < j.Gang {
		return sched.Placement{}, false, nil
	}
	g.Shuffle(len(gpus), func(a, b int) { gpus[a], gpus[b] = gpus[b], gpus[a] })
	p := layOut(j, gpus[:j.Gang], g.kind == sched.S)
	if j.Sharing != nil && g.IntN(2) == 0 {
		options := j.Sharing.Accumulation
		p.Config = &sched.Config{Accumulation: options[g.IntN(len(options))].Steps}
	}
	return p, v.Hold(id, p) == nil, nil // memory may not suffice
}

// layOut gives the job's replicas, in order of stage, the GPUs in their order.
func layOut(j sim.Job, gpus [][2]int, devices bool) sched.Placement {
	shares := map[int]*sched.Share{}
	for s, next := 0, 0; s < len(j.Stages); s++ {
		for range j.Stages[s].Replicas {
			server, device := gpus[next][0], gpus[next][1]
			next++
			if shares[server] == nil {
				shares[server] = &sched.Share{Server: server, Stages: make([]int, len(j.Stages))}
			}
			sh := shares[server]
			sh.GPUs++
			sh.Stages[s]++
			if devices {
				sh.Devices = append(sh.Devices, device)
			}
		}
	}
	var p sched.Placement
	for server := range 100 {
		if sh := shares[server]; sh != nil {
			slices.Sort(sh.Devices)
			p.Shares = append(p.Shares, *sh)
		}
	}
	return p
}

// TestRandomRuns verifies what random policies do in every class and that
// nothing takes longer than it must.
func TestRandomRuns(t *testing.T) {
	preempted, futile, slowed := 0, 0, 0
	for _, k := range kindsOfRun {
		for seed := range uint64(800) {
			rng := rand.New(rand.NewPCG(seed, uint64(k.kind)))
			in := randomInstance(rng, k)
			var g *gambler
			run := func() *sim.Result {
				g = &gambler{Rand: rand.New(rand.NewPCG(seed, 77)), kind: k.kind, asked: map[sched.Time]bool{}}
				r, err := sim.Run(context.Background(), in, g, sim.Options{Slotted: k.slotted})
				if err != nil {
					t.Fatalf("%v, seed %d: %v", k, seed, err)
				}
				return r
			}
			r := run()
			v, err := verify.Check(in, r.Schedule)
			if err != nil {
				t.Fatalf("%v, seed %d: %v", k, seed, err)
			}
			if want := (sched.Class{Kind: k.kind, Slotted: k.slotted}); v.Class() != want {
				t.Fatalf("%v, seed %d: class %v, want %v", k, seed, v.Class(), want)
			}
			checkOrder(t, r.Schedule)
			for _, seg := range r.Schedule.Segments {
				if !k.slotted && !(g.asked[seg.Start] && g.asked[seg.End]) {
					t.Fatalf("%v, seed %d: nobody was asked at %v or %v", k, seed, seg.Start, seg.End)
				}
			}
			checkCounts(t, r, v)
			slowed += checkTight(t, in, r.Schedule)
			preempted += int(r.Preemptions)
			futile += int(r.Futile)
			if again := run(); text(t, in, again.Schedule) != text(t, in, r.Schedule) {
				t.Fatalf("%v, seed %d: two runs differ", k, seed)
			}
		}
	}
	if preempted < 1000 || futile < 100 || slowed < 1000 {
		t.Fatalf("only %d preemptions, %d of them futile, and %d slowed segments were seen", preempted, futile, slowed)
	}
}

func checkOrder(t *testing.T, s *sched.Schedule) {
	t.Helper()
	sorted := sched.Schedule{Segments: slices.Clone(s.Segments)}
	sorted.Sort()
	for i := range s.Segments {
		if a, b := &s.Segments[i], &sorted.Segments[i]; a.Start != b.Start || a.Job != b.Job || a.End != b.End {
			t.Fatalf("segments are out of order: %v", s.Segments)
		}
	}
}

func text(t *testing.T, in *sched.Instance, s *sched.Schedule) string {
	t.Helper()
	var b strings.Builder
	if err := s.Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkCounts compares the simulator's statistics with those that the verifier
// takes from the schedule.
func checkCounts(t *testing.T, r *sim.Result, v *verify.Verified) {
	t.Helper()
	var preemptions, futile int64
	var lost, gpuTime sched.Time
	for _, j := range v.Jobs() {
		preemptions += int64(j.Preemptions)
		futile += int64(j.AbortedLoads)
		lost += j.Futile
		gpuTime += j.Futile * sched.Time(j.GPUs)
	}
	// Where neither load nor pause takes time, a job that goes on where it
	// was preempted leaves no trace in the schedule.
	sameGPUs := r.FutileGPUTime == gpuTime || v.Class().Kind == sched.M // where a job may have lost loads on fewer GPUs than it ever held
	if r.Preemptions < preemptions || r.Futile != futile || r.FutileTime != lost || !sameGPUs {
		t.Fatalf("%d preemptions, %d futile with %v (%v GPU time); the schedule shows %d, %d with %v (%v)",
			r.Preemptions, r.Futile, r.FutileTime, r.FutileGPUTime, preemptions, futile, lost, gpuTime)
	}
}

// checkTight checks that one microsecond (or slot) before a job's last segment
// ends, some of its work was missing. It returns how many segments were slowed
// down by sharing.
func checkTight(t *testing.T, in *sched.Instance, s *sched.Schedule) int {
	t.Helper()
	step := sched.Time(1)
	if s.Class.Slotted {
		step = in.Slot
	}
	slowed := 0
	for id := range in.Jobs {
		done, last := new(big.Rat), sched.Time(0)
		for i := range s.Segments {
			if s.Segments[i].Job == sched.JobID(id) {
				last = max(last, s.Segments[i].End)
			}
		}
		for i := range s.Segments {
			seg := &s.Segments[i]
			if seg.Job != sched.JobID(id) || seg.Phase != sched.Train {
				continue
			}
			alone, err := iterTime(in, s, seg)
			if err != nil {
				t.Fatal(err)
			}
			for now := seg.Start; now < min(seg.End, last-step); now++ {
				xi := slowdownAt(in, s, seg, now)
				if xi > 1 {
					slowed++
				}
				rate := new(big.Rat).SetFloat64(xi)
				rate.Mul(rate, alone)
				done.Add(done, new(big.Rat).Quo(big.NewRat(1, 1e6), rate))
			}
		}
		if done.Cmp(new(big.Rat).SetInt64(in.Jobs[id].Iters)) >= 0 {
			t.Fatalf("job %d of %v ends at %v, but is done %v before: %v", id, in.Jobs[id].Iters, last, step, s.Segments)
		}
	}
	return slowed
}

// iterTime returns the time of an iteration of the segment's job alone.
func iterTime(in *sched.Instance, s *sched.Schedule, seg *sched.Segment) (*big.Rat, error) {
	if s.Class.Kind != sched.M {
		return in.IterTime(seg.Job, &seg.Place)
	}
	for _, z := range in.Jobs[seg.Job].Sharing.Sizes {
		if z.GPUs == seg.Place.GPUs() {
			return big.NewRat(int64(z.Iter), 1e9), nil
		}
	}
	return nil, fmt.Errorf("no size of %d GPUs", seg.Place.GPUs())
}

// tableRow is where a segment's job is in the table of interference.
func tableRow(in *sched.Instance, seg *sched.Segment) int {
	sh := in.Jobs[seg.Job].Sharing
	k := slices.IndexFunc(sh.Accumulation, func(a sched.Accumulation) bool {
		return seg.Place.Config == nil || a.Steps == seg.Place.Config.Accumulation
	})
	return sh.Row(k)
}

// slowdownAt returns how many times longer an iteration of the segment's job
// takes at a time, from the definition: a look at all segments.
func slowdownAt(in *sched.Instance, s *sched.Schedule, seg *sched.Segment, now sched.Time) float64 {
	xi := 1.0
	for i := range s.Segments {
		other := &s.Segments[i]
		if other.Job == seg.Job || other.Start > now || other.End <= now || s.Class.Kind != sched.S {
			continue
		}
		for _, a := range seg.Place.Shares {
			for _, b := range other.Place.Shares {
				meet := slices.ContainsFunc(a.Devices, func(d int) bool { return slices.Contains(b.Devices, d) })
				if a.Server == b.Server && meet {
					xi = max(xi, in.Interference[tableRow(in, seg)][tableRow(in, other)])
				}
			}
		}
	}
	return xi
}
