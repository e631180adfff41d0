package library

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/datasets/instances"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/sched/verify"
)

// Features say what an instance is like. They choose instances that differ, and readers
// may choose by them; no value rests on them. Numbers are rounded to four digits.
type Features struct {
	Model   sched.Model `json:"model"`
	Jobs    int         `json:"jobs"`
	GPUs    int         `json:"gpus"`
	Servers int         `json:"servers"`
	Load    float64     `json:"load,omitempty"`   // offered load; 0 of a burst, and of elastic jobs
	Single  float64     `json:"single,omitempty"` // share of the jobs that need one GPU
	Gang    float64     `json:"gang,omitempty"`   // mean share of all GPUs that a job needs
	// Spread is by how much longer jobs run with their GPUs on as many servers as can be,
	// than on as few: the mean factor, less 1.
	Spread  float64 `json:"spread,omitempty"`
	Weights float64 `json:"weights,omitempty"` // standard deviation of the weights over their mean, where they count
	// Waiting is the share of the jobs' time from release to completion before their first
	// start, under the first policy that replays the instance.
	Waiting float64 `json:"waiting"`
}

// plain are the policies that features are measured by: the first one that is made for the
// instance.
var plain = []string{"sharing-sjf", "elastic-fifo", "sjf"}

// Measure returns the features of an instance.
//
// Errors: those of the policy.
func Measure(ctx context.Context, in *sched.Instance, obj sched.Objective) (Features, error) {
	f := Features{Model: in.Model, Jobs: len(in.Jobs), GPUs: in.Cluster.GPUs(), Servers: len(in.Cluster.Servers)}
	if load, ok, err := instances.OfferedLoad(in); err != nil {
		return f, err
	} else if ok {
		f.Load = rounded(load)
	}
	if in.Model.Gangs() {
		single, gang, spread := 0.0, 0.0, 0.0
		for i := range in.Jobs {
			g := in.Jobs[i].Gang()
			if g == 1 {
				single++
			}
			gang += float64(g) / float64(f.GPUs)
			factor, err := spreading(in, sched.JobID(i))
			if err != nil {
				return f, err
			}
			spread += factor - 1
		}
		n := float64(len(in.Jobs))
		f.Single, f.Gang, f.Spread = rounded(single/n), rounded(gang/n), rounded(spread/n)
	}
	if obj.Weighted() {
		f.Weights = rounded(variation(in))
	}
	var err error
	f.Waiting, err = waiting(ctx, in)
	return f, err
}

// spreading is how many times as long a job runs on as many servers as can be, as on as
// few.
func spreading(in *sched.Instance, id sched.JobID) (float64, error) {
	j := &in.Jobs[id]
	if j.Gang() == 1 || j.ConstantIteration() && !j.Sliced() {
		return 1, nil
	}
	few, err := heavyedge.Fewest(&in.Cluster, j)
	if err != nil {
		return 0, err
	}
	many, left := []heavyedge.Part{}, j.Gang()
	for s := range in.Cluster.Servers {
		many = append(many, heavyedge.Part{Server: s})
	}
	for left > 0 {
		before := left
		for s := range many {
			if left > 0 && many[s].GPUs < in.Cluster.Servers[s].GPUs {
				many[s].GPUs++
				left--
			}
		}
		if left == before {
			return 0, fmt.Errorf("library: job %d needs more GPUs than there are", id)
		}
	}
	for many[len(many)-1].GPUs == 0 {
		many = many[:len(many)-1]
	}
	times := [2]sched.Time{}
	for i, parts := range [][]heavyedge.Part{few, many} {
		place, err := heavyedge.Place(j, parts, heavyedge.Ring)
		if err != nil {
			return 1, nil // a job of slices does not fit every cut: its spread is unknown
		}
		if times[i], err = in.RunTime(id, &place); err != nil {
			return 0, err
		}
	}
	return float64(times[1]) / float64(times[0]), nil
}

// variation is the standard deviation of the weights over their mean.
func variation(in *sched.Instance) float64 {
	n, mean, square := float64(len(in.Jobs)), 0.0, 0.0
	for i := range in.Jobs {
		mean += in.Jobs[i].Weight / n
	}
	for i := range in.Jobs {
		d := in.Jobs[i].Weight - mean
		square += d * d / n
	}
	if mean == 0 {
		return 0
	}
	return math.Sqrt(square) / mean
}

func waiting(ctx context.Context, in *sched.Instance) (float64, error) {
	for _, name := range plain {
		m, err := catalogue.Resolve(suite.MethodRef{Name: name})
		if err != nil {
			return 0, err
		}
		if bench.Suits(m, in) != nil {
			continue
		}
		out, err := m.Run(ctx, bench.Problem{Instance: in, Objectives: []sched.Objective{suite.DefaultObjective}, Seed: 1})
		if err != nil {
			return 0, err
		}
		if out[0].Schedule == nil {
			return 0, fmt.Errorf("library: %s: %s", name, out[0].Message)
		}
		v, err := verify.Check(in, out[0].Schedule)
		if err != nil {
			return 0, err
		}
		waits, all := 0.0, 0.0
		for _, t := range v.Jobs() {
			waits += (t.Start - t.Release).Seconds()
			all += (t.Completion - t.Release).Seconds()
		}
		return rounded(waits / all), nil
	}
	return 0, fmt.Errorf("library: none of %v is made for the instance", plain)
}

// rounded is a number of four digits.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return r
}
