package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	policy "yardstick/heuristics/lazer"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// lazerBurst is a synthetic workload: jobs come in bursts of so many, 5 s apart
// on average within a burst, and ask for 32 GPUs at the given load on average.
type lazerBurst struct {
	size         int
	load         float64
	short, long  int     // times to load, seconds, uniform
	median, wide float64 // of the log-normal training time: seconds, and the logarithm's deviation
}

const lazerBurstGPUs = 32

// instance draws so many jobs.
func (b lazerBurst) instance(jobs int, seed uint64) *sched.Instance {
	rng := rand.New(rand.NewPCG(seed, 0x62757273))
	in := &sched.Instance{Name: "bursts", Model: sched.ModelPreemptive, Cluster: sched.Uniform(lazerBurstGPUs/8, 8, 1_250_000_000, 300_000_000_000)}
	gangs := []int{1, 1, 2, 4, 8}
	mean := b.median * math.Exp(b.wide*b.wide/2) // of a log-normal
	gap := 3.2 * (mean + float64(b.short+b.long)/2) / lazerBurstGPUs / b.load
	release := 0.0
	for i := range jobs {
		if i%b.size == 0 {
			release += rng.ExpFloat64() * gap * float64(b.size)
		}
		release += rng.ExpFloat64() * 5 * float64(min(b.size-1, 1))
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(release * 1e6), Weight: 1, Iters: int64(b.median*math.Exp(rng.NormFloat64()*b.wide)) + 1,
			Load: sched.Time(b.short+rng.IntN(b.long-b.short+1)) * sched.Second, Pause: sched.Time(1+rng.IntN(10)) * sched.Second,
			Stages: []sched.Stage{{Replicas: gangs[rng.IntN(len(gangs))], Compute: 1_000_000_000}}})
	}
	return in
}

// lazerBursts looks for workloads on which deferring pays.
func lazerBursts(ctx context.Context, in Input) (*Output, error) {
	jobs, seeds := max(int(500*in.Scale), 60), max(int(20*in.Scale), 3)
	table := Table{Title: fmt.Sprintf("Total JCT over that of SRTF on the same jobs: mean with its standard error, in brackets least and largest, of %d draws of %d jobs on %d GPUs", seeds, jobs, lazerBurstGPUs),
		Columns: []string{"bursts of", "load", "loads, s", "training P50, s", "futile, SRTF", "futile, 100 s", "20 s always", "50 s always", "100 s always", "Lazer"}}
	bursts := []lazerBurst{
		{1, 0.9, 5, 40, 600, 1}, {8, 0.9, 5, 40, 600, 1}, {8, 1.5, 5, 40, 600, 1.8}, {8, 0.9, 100, 300, 600, 1},
		{8, 0.7, 100, 300, 60, 1}, {8, 1.5, 100, 300, 120, 1}, {32, 0.6, 100, 300, 120, 1}, {32, 1.5, 100, 300, 120, 1},
	}
	making := &maker{Parts: in.Parts, total: len(bursts) * seeds}
	for i, b := range bursts {
		ratios := make([][]float64, 4)
		var futile [2]int64
		for k := range seeds {
			d, err := part(ctx, making, fmt.Sprintf("workload %d, draw %d", i+1, k+1), func() (lazerDraw, error) { return b.draw(ctx, jobs, in.Seed+uint64(k)) })
			if err != nil {
				return nil, err
			}
			for i := range ratios {
				ratios[i] = append(ratios[i], d.Costs[i+1]/d.Costs[0])
			}
			futile[0], futile[1] = futile[0]+d.Futile[0], futile[1]+d.Futile[3]
		}
		row := []string{fmt.Sprint(b.size), fmt.Sprint(b.load), fmt.Sprintf("%d–%d", b.short, b.long), fmt.Sprint(b.median), fmt.Sprint(futile[0]), fmt.Sprint(futile[1])}
		for _, r := range ratios {
			row = append(row, fmt.Sprintf("%.3f ± %.3f (%.2f–%.2f)", lazerMean(r), stat.StdDev(r, nil)/math.Sqrt(float64(len(r))), slices.Min(r), slices.Max(r)))
		}
		table.Rows = append(table.Rows, row)
	}
	return &Output{Tables: []Table{table}}, nil
}

// lazerDraw is what the five policies came to on one draw, SRTF first.
type lazerDraw struct {
	Costs  [5]float64 // total JCT
	Futile [5]int64   // preemptions
}

func (b lazerBurst) draw(ctx context.Context, jobs int, seed uint64) (d lazerDraw, err error) {
	instance := b.instance(jobs, seed)
	for i, p := range []sim.Policy{policy.SRTF(policy.Options{}), policy.Deferring(policy.Options{}, policy.Fixed(20*sched.Second)),
		policy.Deferring(policy.Options{}, policy.Fixed(50*sched.Second)), policy.Deferring(policy.Options{}, policy.Fixed(100*sched.Second)),
		policy.Deferring(policy.Options{}, policy.New(seed, policy.DefaultCaps()))} {
		r, err := sim.Run(ctx, instance, p, sim.Options{})
		if err != nil {
			return d, err
		}
		v, err := verify.Check(instance, r.Schedule)
		if err != nil {
			return d, err
		}
		d.Costs[i], _ = v.Cost(sched.TotalJCT).Float64()
		d.Futile[i] = r.Futile
	}
	return d, nil
}
