package verify_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// TestRandomSchedules accepts what a random simulator made and decides on
// corruptions of it as the naive check does.
func TestRandomSchedules(t *testing.T) {
	const perOption, corruptions = 60, 25
	for k, o := range allOptions() {
		accepted, broken := 0, map[verify.Rule]int{}
		for i := range perOption {
			seed := uint64(k*1000 + i)
			r := newRand(seed)
			in := randomInstance(r, o)
			s := randomSchedule(r, in, o.class)
			if o.class.Kind != sched.S && r.IntN(2) == 0 {
				s = anonymous(s)
			}
			v, err := verify.Check(in, s)
			if err != nil || !legal(in, s) {
				t.Fatalf("%v seed %d: a legal schedule is refused: %v", o, seed, err)
			}
			compareTimes(t, v, s)
			for range corruptions {
				bad := corrupt(r, in, s)
				_, err := verify.Check(in, bad)
				var e *verify.Error
				if err != nil && !errors.As(err, &e) {
					t.Fatalf("%v seed %d: %v", o, seed, err)
				}
				if want := legal(in, bad); want != (err == nil) {
					t.Fatalf("%v seed %d: legal is %v, but Check says %v\n%+v\n%+v", o, seed, want, err, in, bad)
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
		t.Logf("%v: of %d corruptions %d were legal; broken: %v", o, perOption*corruptions, accepted, broken)
	}
}

// compareTimes recomputes what Verified reports from the segments.
func compareTimes(t *testing.T, v *verify.Verified, s *sched.Schedule) {
	t.Helper()
	for _, jt := range v.Jobs() {
		var length [3]sched.Time
		start, completion, servers, gpus, gpuTime := sched.MaxTime, sched.Time(0), 0, 0, int64(0)
		for _, seg := range s.Segments {
			if seg.Job != jt.Job {
				continue
			}
			length[seg.Phase] += seg.End - seg.Start
			start, servers = min(start, seg.Start), max(servers, len(seg.Place.Shares))
			gpus, gpuTime = max(gpus, seg.Place.GPUs()), gpuTime+int64(seg.Place.GPUs())*int64(seg.End-seg.Start)
			if seg.Phase == sched.Train {
				completion = max(completion, seg.End)
			}
		}
		c, ok := v.Completion(jt.Job)
		if ok != (completion > 0) || ok != jt.Scheduled {
			t.Fatalf("job %d: scheduled %v, %v", jt.Job, ok, jt.Scheduled)
		}
		if !ok {
			continue
		}
		held := length[0] + length[1] + length[2]
		if c != completion || jt.Completion != c || jt.Start != start || jt.Train != length[sched.Train] || jt.Load != length[sched.Load] ||
			jt.Pause != length[sched.Pause] || jt.Wait != c-jt.Release-held || jt.Servers != servers || jt.GPUs != gpus || jt.GPUTime != gpuTime {
			t.Fatalf("times %+v of job %d do not match %+v", jt, jt.Job, s)
		}
	}
}

// corrupt returns a copy of the schedule with one to three random changes, all
// of which keep its times small.
func corrupt(r *rand.Rand, in *sched.Instance, s *sched.Schedule) *sched.Schedule {
	out := clone(s)
	for range between(r, 1, 3) {
		if len(out.Segments) == 0 {
			return out
		}
		i := r.IntN(len(out.Segments))
		seg := &out.Segments[i]
		sh := &seg.Place.Shares[r.IntN(len(seg.Place.Shares))]
		switch r.IntN(17) {
		case 0: // shift a segment
			d := sched.Time(between(r, -3, 6))
			seg.Start, seg.End = seg.Start+d, seg.End+d
		case 1: // shift a job
			d := sched.Time(between(r, -5, 40))
			for k := range out.Segments {
				if out.Segments[k].Job == seg.Job {
					out.Segments[k].Start, out.Segments[k].End = out.Segments[k].Start+d, out.Segments[k].End+d
				}
			}
		case 2, 3:
			seg.End += sched.Time(between(r, -2, 3))
		case 4:
			seg.Start += sched.Time(between(r, -2, 2))
		case 5: // drop
			out.Segments = slices.Delete(out.Segments, i, i+1)
		case 6: // duplicate
			out.Segments = append(out.Segments, clone(&sched.Schedule{Segments: out.Segments[i : i+1]}).Segments...)
		case 7: // move to another server
			sh.Server = between(r, -1, len(in.Cluster.Servers))
		case 8: // all segments of the job to another server
			to := r.IntN(len(in.Cluster.Servers))
			for k := range out.Segments {
				if out.Segments[k].Job == seg.Job {
					out.Segments[k].Place.Shares[0].Server = to
				}
			}
		case 9: // grow or shrink
			sh.GPUs += between(r, -1, 1)
			if sh.Stages != nil {
				sh.Stages[0] = max(0, sh.Stages[0]+between(r, -1, 1))
			}
		case 10: // change stage counts
			if len(sh.Stages) > 1 {
				a, b := r.IntN(len(sh.Stages)), r.IntN(len(sh.Stages))
				sh.Stages[a]++
				sh.Stages[b]--
			}
		case 11: // swap two segments' jobs
			k := r.IntN(len(out.Segments))
			seg.Job, out.Segments[k].Job = out.Segments[k].Job, seg.Job
		case 12:
			seg.Phase = sched.Phase(r.IntN(3))
		case 13: // other devices
			for k := range sh.Devices {
				sh.Devices[k] += between(r, -1, 1)
			}
		case 14: // split
			if mid := seg.Start + (seg.End-seg.Start)/2; mid > seg.Start {
				second := clone(&sched.Schedule{Segments: out.Segments[i : i+1]}).Segments[0]
				second.Start, seg.End = mid, mid
				out.Segments = append(out.Segments, second)
			}
		case 15: // another configuration
			seg.Place.Config = &sched.Config{Accumulation: r.IntN(4)}
		case 16: // forget the devices
			sh.Devices = nil
		}
	}
	return out
}

func clone(s *sched.Schedule) *sched.Schedule {
	out := &sched.Schedule{Class: s.Class, Segments: slices.Clone(s.Segments)}
	for i := range out.Segments {
		p := &out.Segments[i].Place
		p.Shares = slices.Clone(p.Shares)
		for k := range p.Shares {
			p.Shares[k].Stages = slices.Clone(p.Shares[k].Stages)
			p.Shares[k].Devices = slices.Clone(p.Shares[k].Devices)
		}
	}
	return out
}
