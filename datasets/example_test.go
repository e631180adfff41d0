package datasets_test

import (
	"fmt"

	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/sched"
)

// The rows of a log become a trace, of which a slice has windows, each of which
// becomes an instance: the whole way of the data, with rows in place of a file.
func Example() {
	var rows []datasets.Row
	for i, gpus := range []float64{1, 2, 0, 4, 1} {
		rows = append(rows, datasets.Row{Trace: "studio", JobID: fmt.Sprint("job-", i),
			SubmitS: datasets.Some(float64(60 * i)), DurationS: datasets.Some(600.0), GPUs: datasets.Some(gpus)})
	}
	trace, err := datasets.NewTrace(func(yield func(datasets.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}, datasets.Selection{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trace.Summary())
	windows, err := trace.Windows(datasets.Slice{Jobs: 2, Repeat: 2}, 1, "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range windows {
		in, err := instances.Gang(&w, instances.GangOptions{Common: instances.Common{Cluster: sched.Uniform(1, 4, 1e9, 1e10)}})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, j := range in.Jobs {
			fmt.Println(w.Repetition, j.Name, "released at", j.Release, "on", j.Gang(), "GPUs")
		}
	}
	// Output:
	// 5 rows read, 5 match the filter, 4 kept; 1 dropped: asks for no GPU
	// 0 job-0 released at 0s on 1 GPUs
	// 0 job-1 released at 1m0s on 2 GPUs
	// 1 job-3 released at 0s on 4 GPUs
	// 1 job-4 released at 1m0s on 1 GPUs
}

// A built-in trace or a Parquet file is opened by name. The selection's filter has
// the syntax of suites.
func ExampleOpen() {
	source, err := datasets.Open("builtin:philly-like")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer source.Close()
	where, err := datasets.ParseFilter(map[string]any{"gpus": []any{">=2", "<=8"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	trace, err := source.Load(datasets.Selection{Where: where})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trace.Summary())
	windows, err := trace.Windows(datasets.Slice{Jobs: 8, At: datasets.At{Rule: datasets.AtBusiest}}, 1, "busy")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(windows), "window of", len(windows[0].List()), "jobs")
	// Output:
	// 27000 rows read, 1404 match the filter, 1404 kept
	// 1 window of 8 jobs
}
