package certify

import (
	"math/big"

	"yardstick/sched"
)

// malleable bounds schedules of malleable jobs (M), which the fluid class F(min)
// contains: job j progresses at a rate of at most 1/d_j, d_j = n_j·min iter_j(g), and
// at most 1/v_j per GPU, v_j = n_j·min g·iter_j(g). So the jobs are work for one
// machine, of sizes v_j/G or less, however they are stopped, moved or resized.
func (c *Checker) malleable(d *document) (proof, error) {
	var data sharingData
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	if c.in.Model != sched.ModelSharing {
		return proof{}, refuted("it is about malleable jobs, not the %s model", c.in.Model)
	}
	f := &fluid{class: sched.Class{Kind: sched.FluidMin}, whole: data.Whole, apart: make([]bool, len(c.in.Jobs))}
	if data.Rule != "alone" && (data.Whole < 1 || len(data.Sizes) != len(c.in.Jobs)) {
		return proof{}, refuted("%d sizes in units of 1/%d for %d jobs", len(data.Sizes), data.Whole, len(c.in.Jobs))
	}
	var work []*big.Rat
	for i := range c.in.Jobs {
		j := &c.in.Jobs[i]
		var least, volume *big.Rat
		for _, z := range j.Sharing.Sizes {
			time := big.NewRat(int64(z.Iter), 1000)
			time.Mul(time, big.NewRat(j.Iters, 1))
			used := new(big.Rat).Mul(time, big.NewRat(int64(z.GPUs), 1))
			if least == nil || time.Cmp(least) < 0 {
				least = time
			}
			if volume == nil || used.Cmp(volume) < 0 {
				volume = used
			}
		}
		if least == nil {
			return proof{}, refuted("job %d is not malleable", i)
		}
		if least.Cmp(rational(sched.MaxTime)) > 0 {
			return proof{}, tooHard("job %d would run for more than %v", i, sched.MaxTime)
		}
		if data.Rule != "alone" {
			size := big.NewRat(data.Sizes[i], data.Whole)
			size.Mul(size, big.NewRat(int64(c.in.Cluster.GPUs()), 1))
			if data.Sizes[i] < 0 || size.Cmp(volume) > 0 {
				return proof{}, refuted("job %d has a size of %d/%d", i, data.Sizes[i], data.Whole)
			}
		}
		work = append(work, least)
		f.jobs = append(f.jobs, job{release: j.Release, length: sched.Time(small(roundUp(least).Num()))})
	}
	return c.bySizes(d, f, &data, work)
}
