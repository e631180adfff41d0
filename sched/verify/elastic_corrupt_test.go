package verify_test

import (
	"math/rand/v2"
	"slices"

	"yardstick/sched"
)

// corruptElastic returns a copy of the schedule with one or two random changes.
func corruptElastic(r *rand.Rand, in *sched.Instance, s *sched.Schedule) *sched.Schedule {
	out := clone(s)
	for i := range out.Segments {
		if c := out.Segments[i].Place.Config; c != nil {
			copied := *c
			out.Segments[i].Place.Config = &copied
		}
	}
	for range between(r, 1, 2) {
		if len(out.Segments) == 0 {
			return out
		}
		i := r.IntN(len(out.Segments))
		seg := &out.Segments[i]
		sh := &seg.Place.Shares[r.IntN(len(seg.Place.Shares))]
		own := func(f func(*sched.Segment)) { // all segments of the job
			for k := range out.Segments {
				if out.Segments[k].Job == out.Segments[i].Job {
					f(&out.Segments[k])
				}
			}
		}
		switch r.IntN(16) {
		case 0:
			d := in.Slot * sched.Time(between(r, -3, 5))
			own(func(x *sched.Segment) { x.Start, x.End = x.Start+d, x.End+d })
		case 1:
			d := sched.Time(between(r, -3, 6))
			seg.Start, seg.End = seg.Start+d, seg.End+d
		case 2:
			seg.End += in.Slot * sched.Time(between(r, -1, 1))
		case 3:
			seg.End += sched.Time(between(r, -2, 2))
		case 4:
			seg.Start -= in.Slot * sched.Time(between(r, -1, 1))
		case 5:
			out.Segments = slices.Delete(out.Segments, i, i+1)
		case 6:
			out.Segments = append(out.Segments, clone(&sched.Schedule{Segments: out.Segments[i : i+1]}).Segments...)
		case 7: // to another server
			sh.Server = between(r, -1, len(in.Cluster.Servers))
		case 8: // one container more or less, with the GPUs of it
			kind, d := r.IntN(2), between(r, -1, 1)
			own(func(x *sched.Segment) {
				x.Place.Shares[0].Stages[kind] = max(0, x.Place.Shares[0].Stages[kind]+d)
				if elasticPlaced(in, x) != "types" {
					stateGPUs(in, x)
				}
			})
		case 9: // a container from one server to the other
			own(func(x *sched.Segment) {
				if last := len(x.Place.Shares) - 1; last > 0 {
					x.Place.Shares[0].Stages[0]++
					x.Place.Shares[last].Stages[0] = max(0, x.Place.Shares[last].Stages[0]-1)
					stateGPUs(in, x)
				}
			})
		case 10: // other types
			m, k := between(r, -1, len(in.Elastic.Workers)), between(r, 0, 1)
			own(func(x *sched.Segment) {
				x.Place.Config = &sched.Config{WorkerType: m, ServerType: k}
				if p := elasticPlaced(in, x); p != "types" {
					stateGPUs(in, x)
				}
			})
		case 11:
			k := r.IntN(len(out.Segments))
			seg.Job, out.Segments[k].Job = out.Segments[k].Job, seg.Job
		case 12:
			seg.Phase = sched.Phase(r.IntN(3))
		case 13:
			sh.GPUs += between(r, -1, 1)
		case 14: // split and move the second part
			if mid := seg.Start + in.Slot; mid < seg.End {
				second := clone(&sched.Schedule{Segments: out.Segments[i : i+1]}).Segments[0]
				second.Start, seg.End = mid, mid
				second.Place.Shares[0].Server = r.IntN(len(in.Cluster.Servers))
				if elasticPlaced(in, &second) == "" || r.IntN(2) == 0 {
					out.Segments = append(out.Segments, second)
				}
			}
		case 15: // a parameter server less where there are several
			own(func(x *sched.Segment) {
				for k := range x.Place.Shares {
					if st := x.Place.Shares[k].Stages; st[1] > 1 {
						st[1]--
					}
				}
				if elasticPlaced(in, x) != "types" {
					stateGPUs(in, x)
				}
			})
		}
	}
	return out
}
