package catalogue

import (
	"context"
	"fmt"
	"math"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/heuristics/lazer"
	"yardstick/heuristics/predict"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// lazerPolicy makes Lazer, or shortest remaining time first, which is Lazer
// without its deferrals. With the parameter defer, every preemption is deferred
// by the same time.
func lazerPolicy(predicting bool) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		o := lazer.Options{Prune: p.flag("prune"), WakeDeferred: p.flag("wake-deferred"), NoFree: p.flag("no-free"), OwnGPUs: p.flag("own-gpus")}
		p.text("placement", o.Placement.String(), &o.Placement)
		deferral := func(context.Context, *sched.Instance) (lazer.Deferral, error) { return nil, nil }
		chosen, warmup := "never", 0
		switch {
		case predicting && p.get("defer", "predicted") != "predicted":
			fixed := lazer.Fixed(p.time("defer", "predicted", 0))
			if fixed > 0 && sched.Time(fixed) < lazer.Shortest {
				p.refuse("defer", fmt.Errorf("it must be 0s or at least %v", lazer.Shortest))
			}
			deferral, chosen = func(context.Context, *sched.Instance) (lazer.Deferral, error) { return fixed, nil }, fmt.Sprintf("always by %v", sched.Time(fixed))
		case predicting:
			seed := uint64(p.count("seed", 0, 0))
			caps := lazer.DefaultCaps()
			caps = lazer.Caps{Observations: p.count("observations", caps.Observations, 10), Refit: p.count("refit", caps.Refit, 1), Floor: p.time("floor", caps.Floor.String(), 0)}
			o.Observed = p.choice("f", "counterfactual", "observed") == "observed"
			warmup = p.count("warmup", 0, 0)
			chosen = fmt.Sprintf("as predicted with seed %d, %+v, after %d", seed, caps, warmup)
			deferral = func(ctx context.Context, in *sched.Instance) (lazer.Deferral, error) {
				predictor := lazer.New(seed, caps)
				if warmup == 0 {
					return predictor, nil
				}
				return predictor, lazer.Warm(ctx, in, predictor, o, warmup)
			}
		}
		replayed, predictions := p.predictor(predict.Perfect)
		if err := p.finish(); err != nil {
			return nil, err
		}
		replayed.New = func(ctx context.Context, problem bench.Problem) (sim.Policy, error) {
			if !predicting {
				return lazer.SRTF(o), nil
			}
			d, err := deferral(ctx, problem.Instance)
			return lazer.Deferring(o, d), err
		}
		replayed.Deferred = deferrals
		if warmup > 0 { // which takes a replay
			replayed.Suits = func(in *sched.Instance) error { return sim.Suits(in, lazer.SRTF(o), in.Slot > 0) }
		}
		return bench.Configured(bench.Policy(ref, "2", replayed), o, chosen, predictions), nil
	}
}

// deferrals is how good the choices of a run of Lazer were, or nil.
func deferrals(policy sim.Policy) *bench.Deferrals {
	p, ok := policy.(*lazer.Policy)
	if !ok {
		return nil
	}
	q, ok := p.Quality()
	if !ok || q.Choices == 0 {
		return nil
	}
	n := float64(q.Choices)
	d := &bench.Deferrals{Choices: q.Choices, Deferred: q.Deferred, Promised: q.Promised / n, Realised: q.Realised / n, Within: float64(q.Within) / n}
	if share := q.Explained(); !math.IsNaN(share) && !math.IsInf(share, 0) {
		d.Explained = &share
	}
	return d
}

// periodicPolicy makes a scheduler that repacks at multiples of an interval.
func periodicPolicy(interval string) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		every := p.time("interval", interval, 1)
		var rule sim.Rule
		p.text("placement", rule.String(), &rule)
		replayed, predictions := p.predictor(predict.Perfect)
		if err := p.finish(); err != nil {
			return nil, err
		}
		replayed.New = always(func() sim.Policy { return lazer.NewPeriodic(every, rule) })
		return bench.Configured(bench.Policy(ref, "1", replayed), every, rule, predictions), nil
	}
}
