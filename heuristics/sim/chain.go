package sim

import "yardstick/sched"

// Chain lays a job's stages over the shares: replicas in pipeline order, all
// of stage 0 first, onto the GPUs in order of server. It does nothing for a
// job of one stage, whose shares need no stages.
//
// A replica of several slices is whole on one server. It is passed over where it
// does not fit, or where whole replicas could not fill the shares any more; they
// must be able to.
func (c *Cluster) Chain(stages []sched.Stage, shares []sched.Share) {
	job := sched.Job{Stages: stages}
	if job.Sliced() {
		c.chainWhole(&job, shares)
		return
	}
	if len(stages) == 1 {
		return
	}
	s, left := 0, stages[0].Replicas
	for i := range shares {
		shares[i].Stages = c.ints.take(len(stages))
		for room := shares[i].GPUs; room > 0; {
			if left == 0 {
				s++
				left = stages[s].Replicas
			}
			n := min(room, left)
			shares[i].Stages[s] += n
			room -= n
			left -= n
		}
	}
}

func (c *Cluster) chainWhole(j *sched.Job, shares []sched.Share) {
	room, left := make([]int, len(shares)), make([]int, len(j.Stages))
	for i := range shares {
		room[i] = shares[i].GPUs
	}
	for s := range j.Stages {
		left[s] = j.Stages[s].Replicas
	}
	f, ok := sched.NewFilling(j, room)
	if !ok {
		panic("sim: whole replicas cannot fill the shares")
	}
	for i := range shares {
		if i > 0 {
			f.Next()
		}
		shares[i].Stages = c.ints.take(len(j.Stages))
		for s := 0; room[i] > 0; {
			if left[s] == 0 || f.Refuses(s) {
				s++
				continue
			}
			n := f.Take(s, left[s])
			shares[i].Stages[s] += n
			left[s] -= n
			room[i] -= n * j.Slices(s)
		}
	}
}
