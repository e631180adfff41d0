package bench_test

import (
	"context"
	"fmt"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/bench/tables"
)

// A suite says what to run on what; a plan is the list of its cells, one method on
// one instance each, fixed before anything runs. The catalogue turns names into
// methods.
func ExampleNewPlan() {
	small, err := suite.Parse("small.yaml", []byte(`
name: small
instances:
  - name: busy
    slice: {jobs: 4, at: busiest, repeat: 2}
    cluster: {servers: 1, gpusPerServer: 8}
    round: 1m
    tooLarge: drop
objectives: [total-jct]
methods: [fifo, sjf]
references: [exhaustive]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := bench.NewPlan(small, catalogue.Resolve)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Cells {
		fmt.Println(c.Instance.Name, c.Method.Ref(), c.Method.Kind(), c.Objectives)
	}
	run, err := tables.Rows(context.Background(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range run.Ratios {
		fmt.Printf("%s %s: %.3f of a %s optimum\n", r.Instance, r.Method, r.RatioToOptimum.V, r.OptimumStatus)
	}
	// Output:
	// busy/00 exhaustive exact [total-jct]
	// busy/00 fifo(blocking=strict,placement=pool) online [total-jct]
	// busy/00 sjf(blocking=strict,placement=pool) online [total-jct]
	// busy/01 exhaustive exact [total-jct]
	// busy/01 fifo(blocking=strict,placement=pool) online [total-jct]
	// busy/01 sjf(blocking=strict,placement=pool) online [total-jct]
	// busy/00 exhaustive: 1.000 of a certified optimum
	// busy/00 fifo(blocking=strict,placement=pool): 1.035 of a certified optimum
	// busy/00 sjf(blocking=strict,placement=pool): 1.035 of a certified optimum
	// busy/01 exhaustive: 1.000 of a certified optimum
	// busy/01 fifo(blocking=strict,placement=pool): 1.203 of a certified optimum
	// busy/01 sjf(blocking=strict,placement=pool): 1.098 of a certified optimum
}
