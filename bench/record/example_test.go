package record_test

import (
	"fmt"
	"os"
	"path/filepath"

	"yardstick/bench/record"
)

// A result directory is a folder of Arrow tables and a manifest. Open checks every
// file against it and returns the tables as rows; what is missing says so.
func ExampleOpen() {
	parent, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "result")
	row := record.Ratio{CellID: "1", Suite: "small", Instance: "busy/00", InstanceSHA256: "1", Family: "busy", Model: "gang", Class: "N",
		Jobs: 4, GPUs: 8, Objective: "total-jct", Method: "fifo", Sense: record.Min, Kind: "online", Termination: "COMPLETED",
		Cost: record.Some(30.0), Optimum: record.Some(15.0), OptimumStatus: record.Certified, RatioToOptimum: record.Some(2.0)}
	failed := record.Ratio{CellID: "2", Suite: "small", Instance: "busy/00", InstanceSHA256: "1", Family: "busy", Model: "gang",
		Jobs: 4, GPUs: 8, Objective: "total-jct", Method: "sjf", Sense: record.Min, Kind: "online", Termination: "TIME_LIMIT"}
	if err := record.Write(dir, &record.Run{Ratios: []record.Ratio{row, failed}}); err != nil {
		fmt.Println(err)
		return
	}

	run, err := record.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range run.Ratios {
		if r.RatioToOptimum.Valid {
			fmt.Println(r.Instance, r.Method, r.RatioToOptimum.V, r.OptimumStatus)
		} else {
			fmt.Println(r.Instance, r.Method, r.Termination)
		}
	}
	// The same by names of columns, for any table.
	columns, rows, err := run.Values("ratios.arrow")
	if err != nil {
		fmt.Println(err)
		return
	}
	for values, err := range rows {
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, c := range columns {
			if c.Name == "method" || c.Name == "cost" {
				fmt.Println(c.Name, c.Type, values[i])
			}
		}
	}
	// Output:
	// busy/00 fifo 2 certified
	// busy/00 sjf TIME_LIMIT
	// method utf8 fifo
	// cost float64 30
	// method utf8 sjf
	// cost float64 <nil>
}
