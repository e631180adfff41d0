package report

import (
	"fmt"
	"math/rand/v2"

	"yardstick/bench/record"
)

// sampleRun has what a report must tell apart: optima and bounds, certified
// and not, several classes, methods that failed, a large trace, a sweep and an
// objective that is maximised.
func sampleRun() *record.Run {
	rng := rand.New(rand.NewPCG(1, 2))
	run := &record.Run{Dir: "results/quick", Manifest: record.Manifest{
		Params:       []record.Param{{Name: "cluster.inter"}},
		ResultDigest: "00ff",
		Execution:    record.Execution{Workers: 2, Cells: 51, Failed: 1, Wall: 61.2},
	}}
	for i := range 6 {
		optimum := 900 + 100*rng.Float64()
		for k, method := range []string{"exhaustive", "fifo(blocking=skip,placement=pool)", "sjf", "las"} {
			cost := optimum * (1 + 0.1*float64(k)*float64(i))
			row := record.Ratio{CellID: fmt.Sprint("s", i, k), Suite: "quick", Instance: fmt.Sprintf("small-%02d", i), Family: "small", Model: "gang",
				Class: "N", Jobs: 8, GPUs: 8, Servers: record.Some(2), Objective: "total-jct", Method: method, Sense: record.Min,
				Kind: "online", Termination: "OPTIMAL", OfferedLoad: offered(0.8+0.0525*float64(i), i != 2),
				Cost: record.Some(cost), DecisionP50: record.Some(float64(k) * 1e-6 / 3)}
			switch {
			case method == "las": // preemptive: the optimum of class N is no denominator
				row.Class = "P"
				row.LowerBound, row.LowerBoundMethod, row.LowerBoundCertified = record.Some(optimum*0.9), "srpt", record.Some(i%2 == 0)
				row.RatioToLowerBound = record.Some(cost / (optimum * 0.9))
			case i < 4:
				row.Optimum, row.OptimumStatus, row.OptimumMethod = record.Some(optimum), record.Proven, "exhaustive"
				row.RatioToOptimum = record.Some(cost / optimum)
			default:
				row.LowerBound, row.LowerBoundMethod, row.LowerBoundCertified = record.Some(optimum*0.95), "mean-busy-time", record.Some(true)
				row.RatioToLowerBound = record.Some(cost / (optimum * 0.95))
			}
			if k == 0 {
				row.Kind, row.DecisionP50 = "exact", record.Opt[float64]{}
			}
			if k == 2 {
				row.Theorem, row.TheoremBound, row.TheoremHolds = "Theorem 1", record.Some(4.0), record.Some(true)
			}
			if k == 2 && i == 3 {
				row = record.Ratio{CellID: row.CellID, Suite: row.Suite, Instance: row.Instance, Family: row.Family, Model: row.Model, Jobs: row.Jobs, GPUs: row.GPUs, OfferedLoad: row.OfferedLoad,
					Objective: row.Objective, Method: row.Method, Sense: row.Sense, Kind: row.Kind, Termination: "CRASHED", Message: "sjf panicked:\n index out of range"}
			}
			if k == 0 && i == 5 {
				row.Cost, row.RatioToLowerBound, row.Termination = record.Opt[float64]{}, record.Opt[float64]{}, "TIME_LIMIT"
			}
			run.Ratios = append(run.Ratios, row)
		}
	}
	for i, inter := range []string{"1Gbps", "10Gbps"} {
		for k, method := range []string{"fifo", "sjf"} {
			row := record.Ratio{CellID: fmt.Sprint("t", i, k), Suite: "quick", Instance: "trace-" + inter, Family: "trace", Model: "gang", Class: "N",
				Jobs: 20000, GPUs: 2000, Servers: record.Some(250), Objective: "weighted-completion", Method: method, Sense: record.Min, Kind: "online",
				Termination: "OPTIMAL", OfferedLoad: record.Some(0.9), Cost: record.Some(3.2e9 + 1e8*float64(k)), DecisionP50: record.Some(2.5e-3),
				Params: map[string]string{"cluster.inter": inter}}
			if i == 1 { // without any bound there is only a cost
				row.LowerBound, row.LowerBoundMethod, row.LowerBoundCertified = record.Some(2.9e9), "lagrangian", record.Some(true)
				row.RatioToLowerBound = record.Some(row.Cost.V / 2.9e9)
			}
			run.Ratios = append(run.Ratios, row)
		}
	}
	run.Ratios = append(run.Ratios, record.Ratio{CellID: "w", Suite: "quick", Instance: "deadline-0", Family: "deadline", Model: "elastic", Class: "Es",
		Jobs: 5, GPUs: 4, Objective: "scheduled-weight", Method: "primal_dual & co", Sense: record.Max, Kind: "online", Termination: "OPTIMAL",
		Cost: record.Some(12.0), UpperBound: record.Some(15.5), LowerBoundMethod: "interval-lp", RatioToLowerBound: record.Some(15.5 / 12)})
	return run
}

// offered is a load, or a missing one.
func offered(load float64, known bool) record.Opt[float64] {
	if !known {
		return record.Opt[float64]{}
	}
	return record.Some(load)
}
