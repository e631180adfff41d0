package score

import (
	"fmt"
	"math"
	"math/bits"

	"yardstick/sched"
)

// pool is the pooled cluster in whole numbers: one server with all GPUs. Times are in
// ticks since 0 or, if a job is released before, the earliest release, amounts of GPUs in shares of a GPU, both as coarse as
// they can be without loss where microseconds and GPUs are too fine for 63 bits.
type pool struct {
	tick   sched.Time // microseconds
	share  int64      // thousandths of a GPU
	origin sched.Time
	gpus   int64 // shares
	in     *sched.Instance
	ends   []sched.Time // ticks
}

// newPool returns the instance whose bounds may divide what a record costs.
//
// Errors: the times and GPUs have no common unit that is coarse enough.
func newPool(c *Checked) (*pool, error) {
	p := &pool{tick: 1, share: c.Cluster.GPUs}
	last := sched.Time(math.MinInt64)
	for j := range c.Jobs {
		p.share = gcd(p.share, c.Jobs[j].GPUs)
		p.origin = min(p.origin, c.Jobs[j].Release)
		last = max(last, c.Ends[j], c.Jobs[j].Release+c.Jobs[j].Length)
	}
	for _, s := range c.Cluster.Capacity {
		p.share = gcd(p.share, s.GPUs)
	}
	if p.share%Milli == 0 {
		p.share = Milli // whole GPUs are counted one by one
	}
	p.gpus = c.Cluster.GPUs / p.share
	if !p.fits(last - p.origin) {
		p.tick = p.commonTick(c)
		if !p.fits((last - p.origin) / p.tick) {
			return nil, fmt.Errorf("score: %v on %s GPUs in steps of %v and of %s GPUs need more than 63 bits: round the times to milliseconds or seconds",
				last-p.origin, GPUs(c.Cluster.GPUs), p.tick, GPUs(p.share))
		}
	}
	p.in = &sched.Instance{Name: "pooled", Model: sched.ModelGang, Jobs: make([]sched.Job, len(c.Jobs)),
		Cluster: sched.Uniform(1, int(p.gpus), sched.Bandwidth(125e6), sched.Bandwidth(125e6))}
	stages := make([]sched.Stage, len(c.Jobs))
	p.ends = make([]sched.Time, len(c.Jobs))
	for j := range c.Jobs {
		job := &c.Jobs[j]
		stages[j] = sched.Stage{Replicas: int(job.GPUs / p.share), Compute: sched.Duration(job.Length/p.tick) * 1000}
		p.in.Jobs[j] = sched.Job{Name: job.Name, User: job.User, Release: (job.Release - p.origin) / p.tick, Weight: job.Weight, Iters: 1, Stages: stages[j : j+1 : j+1]}
		p.ends[j] = (c.Ends[j] - p.origin) / p.tick
	}
	return p, nil
}

// fits reports whether GPUs times so many ticks stay below 2^62, as sums and differences
// of two of them must fit an int64, and the ticks are a time that instances may have.
func (p *pool) fits(ticks sched.Time) bool {
	high, low := bits.Mul64(uint64(p.gpus), uint64(ticks))
	return high == 0 && low < 1<<62 && ticks <= sched.MaxTime
}

// commonTick returns the largest time that all times are multiples of.
func (p *pool) commonTick(c *Checked) sched.Time {
	tick := int64(0)
	for j := range c.Jobs {
		tick = gcd(tick, int64(c.Jobs[j].Release-p.origin))
		tick = gcd(tick, int64(c.Jobs[j].Length))
		tick = gcd(tick, int64(c.Ends[j]-p.origin))
	}
	for _, s := range c.Cluster.Capacity {
		tick = gcd(tick, int64(s.At-p.origin))
	}
	return max(1, sched.Time(tick))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// real reports whether the pool is an instance as people write them: whole GPUs,
// microseconds, and not more GPUs than an instance may have.
func (p *pool) real() bool { return p.tick == 1 && p.share == Milli && p.in.Validate() == nil }

// schedule returns the intervals as a schedule of the pooled instance.
func (p *pool) schedule(c *Checked) (*sched.Instance, *sched.Schedule) {
	in := *p.in
	s := &sched.Schedule{Class: c.Class, Segments: make([]sched.Segment, len(c.Pieces))}
	if c.Class.Kind == sched.P0 { // without loads and pauses P is the same
		in.Model, s.Class.Kind = sched.ModelPreemptive, sched.P
	}
	shares := make([]sched.Share, len(c.Pieces))
	for i := range c.Pieces {
		piece := &c.Pieces[i]
		shares[i] = sched.Share{GPUs: int(piece.GPUs / p.share)}
		s.Segments[i] = sched.Segment{Job: sched.JobID(piece.Job), Start: (piece.Start - p.origin) / p.tick, End: (piece.End - p.origin) / p.tick,
			Place: sched.Placement{Shares: shares[i : i+1 : i+1]}}
	}
	s.Sort()
	return &in, s
}
