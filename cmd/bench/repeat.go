package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"yardstick/bench"
	"yardstick/bench/record"
)

// maxRepeats is how often a suite is run for its times at most.
const maxRepeats = 1_000

// runOften runs a plan as often as --repeat says, the first time in the result directory
// and then in folders below it, and prints the times of all.
func (a *app) runOften(ctx context.Context, f runFlags, file *bench.PlanFile, plan *bench.Plan, args []string) error {
	if f.repeat < 2 {
		return a.runPlan(ctx, f, file, plan, args)
	}
	if f.shard != "" {
		return usageError("--repeat %d does not go with --shard: times are of runs on one machine", f.repeat)
	}
	if f.again == "" {
		f.again = rerun(f, args)
	}
	var dirs []string
	var incomplete error
	for k := 1; k <= f.repeat; k++ {
		one := f
		if k > 1 {
			one.out, one.silent = filepath.Join(f.out, "repeats", strconv.Itoa(k)), true
		}
		if !f.quiet {
			fmt.Fprintf(a.err, "run %d of %d in %s\n", k, f.repeat, one.out)
		}
		if err := a.runPlan(ctx, one, file, plan, args); exitOf(err) == exitIncomplete {
			incomplete = err
		} else if err != nil {
			return err
		}
		dirs = append(dirs, one.out)
	}
	return errors.Join(a.showTimes(dirs), incomplete)
}

// showTimes prints the median and the spread of the times of several runs of one plan, by
// family and method.
func (a *app) showTimes(dirs []string) error {
	var runs []*record.Run
	digests := map[string]bool{}
	for _, dir := range dirs {
		run, err := record.Open(dir)
		if err != nil {
			return err
		}
		runs = append(runs, run)
		digests[run.Manifest.ResultDigest] = true
	}
	if err := times(runs).write(a.out, "table"); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "times of %d runs, of all cells of a method together: the median, and in brackets the least and the greatest\n", len(runs))
	if len(digests) > 1 {
		fmt.Fprintf(a.err, "the values of these runs differ, and not only their times: bench compare %s %s says where\n", dirs[0], dirs[1])
	}
	return nil
}

// total is the time that a method took on a family in one run.
type total struct {
	cells     int
	cpu, wall float64
}

// times lists, by family and method, the median over runs of the sum over cells.
func times(runs []*record.Run) *listing {
	type key struct{ family, method string }
	var order []key
	totals := map[key][]total{}
	for i, run := range runs {
		seen := map[string]bool{}
		for r := range run.Ratios {
			row := &run.Ratios[r]
			if seen[row.CellID] { // one row per objective
				continue
			}
			seen[row.CellID] = true
			k := key{row.Family, row.Method}
			if totals[k] == nil {
				order, totals[k] = append(order, k), make([]total, len(runs))
			}
			t := &totals[k][i]
			t.cells, t.cpu, t.wall = t.cells+1, t.cpu+row.CPU.V, t.wall+row.Wall.V
		}
	}
	most := 0.0
	for _, k := range order {
		for _, t := range totals[k] {
			most = max(most, t.cpu, t.wall)
		}
	}
	unit, factor := "s", 1.0
	if most < 1 {
		unit, factor = "ms", 1000
	}
	cpuName, wallName := "processor_"+unit, "wall_clock_"+unit
	l := &listing{columns: []string{"family", "method", "cells", cpuName, wallName}, right: map[string]bool{"cells": true, cpuName: true, wallName: true}}
	for _, k := range order {
		var cpu, wall []float64
		for _, t := range totals[k] {
			cpu, wall = append(cpu, factor*t.cpu), append(wall, factor*t.wall)
		}
		l.rows = append(l.rows, []string{k.family, k.method, strconv.Itoa(totals[k][0].cells), spread(cpu), spread(wall)})
	}
	return l
}

// spread is the median of some numbers, the mean of the two in the middle where they are
// even in number, with the least and the greatest.
func spread(v []float64) string {
	slices.Sort(v)
	n := len(v)
	return fmt.Sprintf("%.3f (%.3f to %.3f)", (v[(n-1)/2]+v[n/2])/2, v[0], v[n-1])
}
