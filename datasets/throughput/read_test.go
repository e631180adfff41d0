package throughput

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// ReadFile reads measurements in the format of the simulators of Pollux and
// Sia: placements.csv with the columns placement, local_bsz and step_time, or
// scalability.csv with num_nodes, num_replicas, local_bsz and step_time; gzip
// or not. A placement has one digit per server, its replicas: 13 is one on one
// server and three on another. Other columns are not read.
//
// Errors name the file, the line and the column.
func ReadFile(path string) ([]Measurement, error) {
	csv, err := importer.OpenCSV(path, importer.CSVOptions{})
	if err != nil {
		return nil, fmt.Errorf("throughput: %w", err)
	}
	defer csv.Close()
	rows, err := read(csv)
	if err != nil {
		return nil, fmt.Errorf("throughput: %w", err)
	}
	return rows, nil
}

func read(csv *importer.CSV) ([]Measurement, error) {
	var nodes, replicas, batch, step int
	placement := csv.Optional("placement")
	places := map[*int]string{&batch: "local_bsz", &step: "step_time"}
	if placement < 0 {
		places[&nodes], places[&replicas] = "num_nodes", "num_replicas"
	}
	if err := csv.Columns(places); err != nil {
		return nil, err
	}
	var rows []Measurement
	for {
		err := csv.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		var m Measurement
		if placement >= 0 {
			m.Nodes, m.Replicas, err = parsePlacement(csv, placement)
		} else if m.Nodes, err = whole(csv, nodes); err == nil {
			m.Replicas, err = whole(csv, replicas)
		}
		if err == nil {
			m.Batch, err = whole(csv, batch)
		}
		var t datasets.Opt[float64]
		if err == nil {
			t, err = csv.Quantity(step)
		}
		if err == nil && t.V == 0 {
			err = csv.Errorf(step, "is 0 or empty: a measured time must be positive")
		}
		if err != nil {
			return nil, err
		}
		m.Seconds = t.V
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", csv.Name(), csv.Line(), err)
		}
		rows = append(rows, m)
	}
}

func parsePlacement(csv *importer.CSV, at int) (nodes, replicas int, err error) {
	for _, d := range csv.Bytes(at) {
		if d < '1' || d > '9' {
			return 0, 0, csv.Errorf(at, "%.40q is not a placement such as 13: one replica on a server and three on another", csv.Bytes(at))
		}
		nodes++
		replicas += int(d - '0')
	}
	return nodes, replicas, nil
}

// whole reads an integer from 1.
func whole(csv *importer.CSV, at int) (int, error) {
	v, err := csv.Quantity(at)
	if err == nil && (v.V < 1 || v.V != math.Trunc(v.V) || v.V > math.MaxInt32) {
		err = csv.Errorf(at, "is %s: a whole number from 1 is needed", strconv.Quote(string(csv.Bytes(at))))
	}
	return int(v.V), err
}
