package instances

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// OfferedLoad returns the offered load of an instance, [sched.OfferedLoad] of its
// jobs' gangs and running times on its cluster. A running time is that of the gang
// alone on the fewest servers of the empty cluster, where Heavy-Edge places it:
// without loading, saving and interference, and of the sharing model with the
// fewest steps of accumulation. The instance must be valid.
//
// It is false of a burst, and of the elastic model, whose jobs have neither gang nor
// running time of their own.
//
// Errors: a running time beyond sched.MaxTime.
func OfferedLoad(in *sched.Instance) (float64, bool, error) {
	if !in.Model.Gangs() {
		return 0, false, nil
	}
	var total demand
	if err := total.addAll(in); err != nil {
		return 0, false, fmt.Errorf("instances: instance %q: %w", in.Name, err)
	}
	load, ok := total.over(releaseSpan(in), in.Cluster.GPUs())
	return load, ok, nil
}

// demand is what jobs ask for: their running times and their work, exactly, in
// microseconds and GPU-microseconds.
type demand struct {
	jobs      int
	run, work big.Int
}

func (d *demand) add(gang int, run sched.Time) {
	t := big.NewInt(int64(run))
	d.jobs++
	d.run.Add(&d.run, t)
	d.work.Add(&d.work, t.Mul(t, big.NewInt(int64(gang))))
}

func (d *demand) addAll(in *sched.Instance) error {
	for i := range in.Jobs {
		_, run, err := onFewest(in, sched.JobID(i))
		if err != nil {
			return err
		}
		d.add(in.Jobs[i].Gang(), run)
	}
	return nil
}

func (d *demand) gpuTime() float64 {
	work, _ := d.work.Float64()
	return work
}

func (d *demand) meanRun() float64 {
	run, _ := d.run.Float64()
	return run / float64(d.jobs)
}

// over is the offered load if the jobs are released over the span.
func (d *demand) over(span sched.Time, gpus int) (float64, bool) {
	run, _ := d.run.Float64()
	return sched.OfferedLoad(d.jobs, d.gpuTime(), run, float64(span), gpus)
}

// spanFor is the span, in microseconds, over which the jobs have the offered load.
func (d *demand) spanFor(load float64, gpus int) float64 {
	return math.Ceil(float64(d.jobs-1) / float64(d.jobs) * d.gpuTime() / float64(gpus) / load)
}

// onFewest places a job on the fewest servers of the empty cluster, and returns
// how long it runs there.
func onFewest(in *sched.Instance, id sched.JobID) (*sched.Placement, sched.Time, error) {
	j := &in.Jobs[id]
	parts, err := heavyedge.Fewest(&in.Cluster, j)
	if err != nil {
		return nil, 0, err
	}
	place, err := heavyedge.Place(j, parts, heavyedge.Ring)
	if err != nil {
		return nil, 0, err
	}
	run, err := in.RunTime(id, &place)
	return &place, run, err
}

// releaseSpan is the time from the first release to the last.
func releaseSpan(in *sched.Instance) sched.Time {
	first, last := in.Jobs[0].Release, in.Jobs[0].Release
	for i := range in.Jobs {
		first, last = min(first, in.Jobs[i].Release), max(last, in.Jobs[i].Release)
	}
	return last - first
}

// release rounds the releases and, where the options say so, sets the offered
// load.
func (c *Common) release(in *sched.Instance) error {
	exact := make([]sched.Time, len(in.Jobs))
	for i := range in.Jobs {
		exact[i] = in.Jobs[i].Release
		in.Jobs[i].Release = roundUp(exact[i], c.Round)
	}
	if err := in.Validate(); err != nil || !c.OfferedLoad.OK {
		return err
	}
	for i := range in.Jobs {
		in.Jobs[i].Release = exact[i]
	}
	if err := spread(in, c.OfferedLoad.V); err != nil {
		return err
	}
	for i := range in.Jobs {
		in.Jobs[i].Release = roundUp(in.Jobs[i].Release, c.Round)
	}
	return in.Validate()
}

// spread multiplies the releases, of which the first is 0, by one number, and rounds
// them up to microseconds, so that the offered load is as given. Done again it
// changes nothing, since the span follows from the work alone.
//
// Errors: the jobs are a burst, or would be one, or would be released beyond
// sched.MaxTime.
func spread(in *sched.Instance, load float64) error {
	var total demand
	if err := total.addAll(in); err != nil {
		return err
	}
	span, gpus := releaseSpan(in), in.Cluster.GPUs()
	mean := sched.Time(math.Ceil(total.meanRun()))
	if _, ok := total.over(span, gpus); !ok {
		return fmt.Errorf("offeredLoad is %v, and the %d jobs are a burst, which has no load to set: all are released within %v, less than their mean running time of %v; take more jobs or other windows (slice.jobs, slice.load), or drop offeredLoad",
			load, total.jobs, span, mean)
	}
	want := total.spanFor(load, gpus)
	if want > float64(sched.MaxTime) {
		return fmt.Errorf("offeredLoad is %v: the %d jobs would be released over more than %v; take a larger load", load, total.jobs, sched.MaxTime)
	}
	if _, ok := total.over(sched.Time(want), gpus); !ok {
		return fmt.Errorf("offeredLoad is %v: to offer it, the %d jobs would be released within %v, less than their mean running time of %v, and be a burst, which has no load; take more jobs, fewer GPUs or a lower load",
			load, total.jobs, sched.Time(want), mean)
	}
	for i := range in.Jobs {
		high, low := bits.Mul64(uint64(in.Jobs[i].Release), uint64(want))
		low, carry := bits.Add64(low, uint64(span)-1, 0)
		moved, _ := bits.Div64(high+carry, low, uint64(span)) // at most want, as no release is beyond the span
		in.Jobs[i].Release = sched.Time(moved)
	}
	return nil
}
