package tables

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/sched"
)

// Schedule makes a schedule of its rows in segments.arrow, which it sorts, and of its class. It
// is a claim.
//
// Errors: rows that contradict each other, or hold what no schedule has.
func Schedule(class string, segments []*record.Segment) (*sched.Schedule, error) {
	out := &sched.Schedule{}
	if err := out.Class.UnmarshalText([]byte(class)); err != nil {
		return nil, err
	}
	slices.SortStableFunc(segments, func(a, b *record.Segment) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Server, b.Server))
	})
	for i, row := range segments {
		share := sched.Share{Server: row.Server, GPUs: row.GPUs}
		var err1, err2 error
		share.Stages, err1 = parseNumbers(row.Stages)
		share.Devices, err2 = parseNumbers(row.Devices)
		one := sched.Segment{Job: sched.JobID(row.Job), Start: inMicroseconds(row.Start), End: inMicroseconds(row.End)}
		if row.WorkerType.Valid {
			one.Place.Config = &sched.Config{WorkerType: row.WorkerType.V, ServerType: row.ServerType.V, Accumulation: row.Accumulation.V}
		}
		if err := errors.Join(err1, err2, one.Phase.UnmarshalText([]byte(row.Phase))); err != nil {
			return nil, err
		}
		if i == 0 || segments[i-1].Job != row.Job || segments[i-1].Segment != row.Segment {
			out.Segments = append(out.Segments, one)
		}
		last := &out.Segments[len(out.Segments)-1]
		if last.Start != one.Start || last.End != one.End || last.Phase != one.Phase || (last.Place.Config == nil) != (one.Place.Config == nil) ||
			one.Place.Config != nil && *one.Place.Config != *last.Place.Config {
			return nil, fmt.Errorf("segment %d of job %d differs from server to server", row.Segment, row.Job)
		}
		last.Place.Shares = append(last.Place.Shares, share)
	}
	out.Sort()
	return out, nil
}

// inMicroseconds is a time of a table, which has the float64 nearest to it.
func inMicroseconds(seconds float64) sched.Time {
	return sched.Time(math.Round(seconds * float64(sched.Second)))
}

// parseNumbers reads what numbers wrote.
func parseNumbers(text record.Text) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var list []int
	for one := range strings.SplitSeq(string(text), ",") {
		n, err := strconv.Atoi(one)
		if err != nil {
			return nil, fmt.Errorf("%q is not a list of numbers", text)
		}
		list = append(list, n)
	}
	return list, nil
}
