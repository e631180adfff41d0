package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/suite"
	"yardstick/internal/program"
)

// originOf returns what the cells of a suite depend on, "" if that cannot be found out: then
// planning it says why.
func originOf(s *suite.Suite) bench.Origin {
	o, err := bench.NewOrigin(s, catalogue.Resolve, program.Build(), record.ThisMachine().ID())
	if err != nil {
		return ""
	}
	return o
}

// standing prints the report of a run that is finished already: whose result directory has
// all that its run left there, and nothing else, of the same plan. It reports whether it is.
func (a *app) standing(ctx context.Context, f runFlags, file *bench.PlanFile) (bool, error) {
	if f.force || f.shard != "" || f.repeat > 1 || f.origin == "" {
		return false, nil
	}
	done, err := bench.ReadFinished(f.out)
	if err != nil {
		return false, nil // the run writes it
	}
	old, err := bench.ReadPlanFile(f.out)
	if err != nil || old.Suite != file.Suite || old.Text != file.Text || !slices.Equal(old.Settings, file.Settings) {
		return false, nil
	}
	claim, err := a.claim(ctx, f.out, bench.Claiming{File: old})
	if err != nil {
		return false, err
	}
	defer claim.Close()
	if key, err := f.origin.Key(f.out, report.FileName); err != nil || key != done.Key {
		return false, nil
	}
	run, err := record.OpenReport(f.out)
	if err != nil {
		return false, nil
	}
	a.say(done.Notes)
	if err := a.showReport(run, nil, report.Options{}); err != nil {
		return false, err
	}
	fmt.Fprintf(a.out, "report %s\n", filepath.Join(f.out, report.FileName))
	fmt.Fprintf(a.err, "%d of %d cells were finished before; --force runs them again\n", done.Cells, done.Cells)
	return true, nil
}

// finish notes that a run ended with nothing left to do, unless what it was made of has
// changed since it began.
func finish(f runFlags, plan *bench.Plan, notes []string) error {
	if f.origin == "" || originOf(plan.Suite) != f.origin {
		return nil
	}
	key, err := f.origin.Key(f.out, report.FileName)
	if err != nil {
		return err
	}
	return (&bench.Finished{Key: key, Cells: len(plan.Cells), Notes: notes}).Write(f.out)
}
