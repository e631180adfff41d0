package verify_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// randomElastic returns an instance whose jobs take some tens of microseconds.
func randomElastic(r *rand.Rand) *sched.Instance {
	resources := [][]string{{"bw"}, {"gpu", "bw"}, {"bw", "mem"}, {"mem", "gpu", "bw"}}[r.IntN(4)]
	bw := slices.Index(resources, "bw")
	in := &sched.Instance{Name: "random", Model: sched.ModelElastic, Slot: sched.Time(between(r, 3, 8)), Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9},
		Elastic: &sched.ElasticTypes{Resources: resources, Bandwidth: bw}}
	vector := func(low, high int) []int64 {
		v := make([]int64, len(resources))
		for k := range v {
			v[k] = int64(between(r, low, high))
		}
		return v
	}
	for range between(r, 1, 2) {
		w := vector(0, 2)
		w[bw] = max(1, w[bw])
		in.Elastic.Workers = append(in.Elastic.Workers, sched.Container{Demand: w})
		s := vector(0, 3)
		s[bw] = max(1, s[bw])
		in.Elastic.Servers = append(in.Elastic.Servers, sched.Container{Demand: s})
	}
	for range between(r, 1, 3) {
		server := sched.Server{Capacity: vector(2, 8), GPUs: 1}
		if gpu := slices.Index(resources, "gpu"); gpu >= 0 {
			server.GPUs = int(server.Capacity[gpu])
		}
		in.Cluster.Servers = append(in.Cluster.Servers, server)
	}
	if r.IntN(4) == 0 {
		in.Deadline = 60
	}
	for range between(r, 1, 4) {
		e := &sched.Elastic{Ring: r.IntN(3) == 0, MaxWorkers: between(r, 1, 4), Batches: int64(between(r, 1, 12)), Gradients: sched.Bytes(r.IntN(3))}
		j := sched.Job{Release: sched.Time(r.IntN(20)), Weight: float64(between(r, 1, 5)), Elastic: e}
		for range in.Elastic.Workers {
			e.Train = append(e.Train, sched.Duration(between(r, 500, 5000)))
			e.Update = append(e.Update, sched.Duration(between(r, 0, 2000)))
		}
		if e.Ring {
			e.Update = e.Update[:1]
		}
		if r.IntN(3) == 0 {
			j.Load, j.Pause = sched.Time(r.IntN(12)), sched.Time(r.IntN(4))
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// planner makes a random legal schedule, job by job.
type planner struct {
	*rand.Rand
	in   *sched.Instance
	used map[[3]int]int64 // by microsecond, server and resource
	s    *sched.Schedule
}

// place returns a random placement that fits the empty cluster, or nil.
func (p *planner) place(id sched.JobID) *sched.Placement {
	e := p.in.Jobs[id].Elastic
	for range 60 {
		config := &sched.Config{WorkerType: p.IntN(len(e.Train)), ServerType: p.IntN(len(e.Update))}
		counts := make([][]int, len(p.in.Cluster.Servers))
		for h := range counts {
			counts[h] = []int{0, 0}
		}
		for range between(p.Rand, 1, e.MaxWorkers) {
			counts[p.IntN(len(counts))][0]++
		}
		if !e.Ring {
			for range between(p.Rand, 1, 2) {
				counts[p.IntN(len(counts))][1] += between(p.Rand, 1, 3)
			}
		}
		seg := sched.Segment{Job: id, Place: sched.Placement{Config: config}}
		for h, c := range counts {
			if c[0]+c[1] > 0 {
				seg.Place.Shares = append(seg.Place.Shares, sched.Share{Server: h, Stages: c})
			}
		}
		stateGPUs(p.in, &seg)
		if elasticPlaced(p.in, &seg) == "" {
			return &seg.Place
		}
	}
	return nil
}

// stateGPUs sets the GPUs of every share to what its containers take.
func stateGPUs(in *sched.Instance, seg *sched.Segment) {
	gpu := slices.Index(in.Elastic.Resources, "gpu")
	for k := range seg.Place.Shares {
		sh := &seg.Place.Shares[k]
		if sh.GPUs = 0; gpu >= 0 {
			sh.GPUs = int(amount(in, seg, sh.Server, gpu))
		}
	}
}

// take reserves the segment's resources if they are free.
func (p *planner) take(seg sched.Segment) bool {
	taken := takes(p.in, &seg)
	for _, take := range []bool{false, true} {
		for t := seg.Start; t < seg.End; t++ {
			for h, server := range p.in.Cluster.Servers {
				for r, has := range server.Capacity {
					at, f := [3]int{int(t), h, r}, taken[h][r]
					if take {
						p.used[at] += f
					} else if p.used[at]+f > has {
						return false
					}
				}
			}
		}
	}
	p.s.Segments = append(p.s.Segments, seg)
	return true
}

// window appends a window that starts at the first boundary from t on at which
// it fits, and returns the end of its training and its end.
func (p *planner) window(id sched.JobID, t, load sched.Time, slots int64, pause sched.Time, place *sched.Placement) (stop, end sched.Time) {
	for t = (t + p.in.Slot - 1) / p.in.Slot * p.in.Slot; ; t += p.in.Slot {
		stop = t + (load+p.in.Slot-1)/p.in.Slot*p.in.Slot + sched.Time(slots)*p.in.Slot
		n := len(p.s.Segments)
		if !p.take(sched.Segment{Job: id, Start: t, End: stop + pause, Place: *place}) {
			continue
		}
		p.s.Segments = p.s.Segments[:n]
		add := func(phase sched.Phase, start, end sched.Time) {
			if start < end {
				p.s.Segments = append(p.s.Segments, sched.Segment{Job: id, Start: start, End: end, Phase: phase, Place: *place})
			}
		}
		middle := t + load + sched.Time(p.Int64N(int64(stop-t-load)))
		add(sched.Load, t, t+load)
		add(sched.Train, t+load, middle)
		add(sched.Train, middle, stop)
		add(sched.Pause, stop, stop+pause)
		return stop, stop + pause
	}
}

// randomElasticSchedule returns a legal schedule of the kind, or nil if some
// job that may not be left out was not placed.
func randomElasticSchedule(r *rand.Rand, in *sched.Instance, kind sched.Kind) *sched.Schedule {
	p := &planner{Rand: r, in: in, used: map[[3]int]int64{}, s: &sched.Schedule{Class: sched.Class{Kind: kind, Slotted: true}}}
	for _, i := range r.Perm(len(in.Jobs)) {
		id, j := sched.JobID(i), &in.Jobs[i]
		if in.Deadline > 0 && r.IntN(3) == 0 {
			continue
		}
		t, load := j.Release+sched.Time(r.IntN(20)), sched.Time(0)
		left := new(big.Rat).SetInt64(j.Elastic.Batches)
		for left.Sign() > 0 {
			place := p.place(id)
			if place == nil && load == 0 && t == j.Release {
				break
			}
			if place == nil {
				return nil
			}
			c, err := in.ReadElastic(id, place)
			if err != nil {
				panic(err)
			}
			perSlot := in.BatchTime(id, c.WorkerType, c.ServerType, c.Workers, c.OneServer)
			perSlot.Quo(big.NewRat(int64(c.Workers)*int64(in.Slot), 1e6), perSlot)
			slots, pause := c.Slots+int64(r.IntN(8)/7), sched.Time(0)
			if n := 1 + r.Int64N(4); kind == sched.EP && n < 4 {
				slots = n
			}
			done := new(big.Rat).Mul(perSlot, big.NewRat(slots, 1))
			if left.Sub(left, done); left.Sign() > 0 {
				pause = j.Pause
			}
			_, t = p.window(id, t, load, slots, pause, place)
			t += sched.Time(r.IntN(10))
			load = j.Load
		}
	}
	if len(p.s.Segments) == 0 && in.Deadline == 0 {
		return nil
	}
	p.s.Sort()
	return p.s
}

// TestRandomElasticSchedules accepts what a random planner made and decides on
// corruptions of it as the naive check does.
func TestRandomElasticSchedules(t *testing.T) {
	const perKind, corruptions = 150, 25
	for _, kind := range []sched.Kind{sched.E, sched.EP} {
		accepted, made, broken := 0, 0, map[verify.Rule]int{}
		for seed := uint64(0); made < perKind; seed++ {
			r := newRand(1000*uint64(kind) + seed)
			in := randomElastic(r)
			s := randomElasticSchedule(r, in, kind)
			if s == nil || !complete(in, s) {
				continue
			}
			made++
			v, err := verify.Check(in, s)
			if err != nil || !elasticLegal(in, s) {
				t.Fatalf("kind %d seed %d: a legal schedule is refused: %v\n%+v\n%+v", kind, seed, err, in, s)
			}
			compareElasticTimes(t, v, s)
			for range corruptions {
				bad := corruptElastic(r, in, s)
				_, err := verify.Check(in, bad)
				var e *verify.Error
				if err != nil && !errors.As(err, &e) {
					t.Fatalf("kind %d seed %d: %v", kind, seed, err)
				}
				if want := elasticLegal(in, bad); want != (err == nil) {
					t.Fatalf("kind %d seed %d: legal is %v, but Check says %v\n%+v\n%+v", kind, seed, want, err, in, bad)
				}
				for i := range bad.Segments {
					compareReading(t, in, &bad.Segments[i])
				}
				if err == nil {
					accepted++
					continue
				}
				for _, rule := range e.Rules() {
					broken[rule]++
				}
			}
		}
		t.Logf("kind %d: of %d corruptions %d were legal; broken: %v", kind, perKind*corruptions, accepted, broken)
		for _, rule := range []verify.Rule{verify.RuleWorkers, verify.RuleParameterServers, verify.RuleBandwidth, verify.RuleCapacity,
			verify.RuleProgress, verify.RuleSlot, verify.RuleRelease, verify.RuleConfig, verify.RulePlacement, verify.RuleGrammar} {
			if broken[rule] == 0 {
				t.Errorf("kind %d: no corruption broke rule %s", kind, rule)
			}
		}
		if accepted == 0 {
			t.Errorf("kind %d: no corruption was legal", kind)
		}
	}
}

// complete reports whether every job is scheduled or may be left out.
func complete(in *sched.Instance, s *sched.Schedule) bool {
	for id := range in.Jobs {
		if in.Deadline == 0 && !slices.ContainsFunc(s.Segments, func(seg sched.Segment) bool { return seg.Job == sched.JobID(id) }) {
			return false
		}
	}
	return true
}

// compareReading compares what package sched says of a placement with the
// naive check.
func compareReading(t *testing.T, in *sched.Instance, seg *sched.Segment) {
	t.Helper()
	if seg.Job < 0 || int(seg.Job) >= len(in.Jobs) {
		return
	}
	fixed := clone(&sched.Schedule{Segments: []sched.Segment{*seg}}).Segments[0]
	for k := range fixed.Place.Shares {
		fixed.Place.Shares[k].Devices = nil
	}
	c, err := in.ReadElastic(seg.Job, &fixed.Place)
	if err == nil {
		stateGPUs(in, &fixed) // ReadElastic does not look at them
	}
	broken := elasticPlaced(in, &fixed)
	if config := fixed.Place.Config; config != nil && config.Accumulation != 0 {
		return
	}
	if (err == nil) != (broken == "") {
		t.Fatalf("ReadElastic says %v, the naive check %q of %+v\n%+v", err, broken, fixed, in)
	}
	if err != nil {
		return
	}
	// d is the least number of slots that suffices.
	theta := in.BatchTime(seg.Job, c.WorkerType, c.ServerType, c.Workers, len(fixed.Place.Shares) == 1)
	for d, enough := range map[int64]bool{c.Slots: true, c.Slots - 1: false} {
		done := big.NewRat(d*int64(in.Slot)*int64(c.Workers), 1e6)
		done.Quo(done, theta)
		if (done.Cmp(new(big.Rat).SetInt64(in.Jobs[seg.Job].Elastic.Batches)) >= 0) != enough {
			t.Fatalf("%d slots are not the least for %+v\n%+v", c.Slots, fixed, in)
		}
	}
}

func compareElasticTimes(t *testing.T, v *verify.Verified, s *sched.Schedule) {
	t.Helper()
	for _, jt := range v.Jobs() {
		var length [3]sched.Time
		completion, gpuTime := sched.Time(0), int64(0)
		for _, seg := range s.Segments {
			if seg.Job != jt.Job {
				continue
			}
			length[seg.Phase] += seg.End - seg.Start
			gpuTime += int64(seg.Place.GPUs()) * int64(seg.End-seg.Start)
			if seg.Phase == sched.Train {
				completion = max(completion, seg.End)
			}
		}
		c, ok := v.Completion(jt.Job)
		if ok != (completion > 0) || ok && (c != completion || jt.GPUTime != gpuTime || jt.Train != length[sched.Train] ||
			jt.Load != length[sched.Load] || jt.Pause != length[sched.Pause] || jt.Wait != c-jt.Release-length[0]-length[1]-length[2]) {
			t.Fatalf("times %+v of job %d do not match %+v", jt, jt.Job, s)
		}
	}
}
