package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"yardstick/bench/journal"
	"yardstick/solvers/milp"
)

// A machine that cannot run cells ends the run at the first: nothing is kept of it, and
// the next run has every cell again.
func TestMachineEndsTheRun(t *testing.T) {
	plan, folder := planOf(policy("fifo", "1"), policy("sjf", "1"), policy("spjf", "1"), policy("fifo", "2")), t.TempDir()
	run := func(cell func(Cell) error) (results []CellResult, ran int) {
		j, err := journal.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		j.Start(folder, journal.Header{})
		results = Run(context.Background(), plan, Options{Workers: 1, Store: NewStore(j, StoreOptions{}), Execute: func(_ context.Context, c Cell) CellResult {
			ran++
			return CellResult{Cell: c, Err: cell(c)}
		}})
		return results, ran
	}
	results, ran := run(func(c Cell) error {
		if c.Index == 1 {
			return fmt.Errorf("%w: no processes", ErrMachine)
		}
		return errors.New("no luck")
	})
	failed, skipped := Failures(results)
	if err := Stopped(results); err == nil || err.Error() != "this machine cannot run cells: no processes" || len(failed) != ran || skipped+ran != len(plan.Cells) || ran > 3 {
		t.Errorf("%v: %q failed, %d skipped, %d ran", err, failed, skipped, ran)
	}
	kept := ran - 1
	results, ran = run(func(Cell) error { return errors.New("no luck either") })
	if err := Stopped(results); err != nil || ran != len(plan.Cells)-kept || results[1].Reused {
		t.Errorf("%v: %d ran again", err, ran)
	}
}

// A cell whose process something else has killed has failed where tables are made of
// what there is, and runs again in the next run. What a method did itself does not.
func TestKilledFromOutside(t *testing.T) {
	plan, folder := planOf(policy("fifo", "1"), policy("sjf", "1")), t.TempDir()
	run := func(o StoreOptions, cell func(Cell) error) []CellResult {
		j, err := journal.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		j.Start(folder, journal.Header{})
		return Run(context.Background(), plan, Options{Workers: 1, Store: NewStore(j, o), Execute: func(_ context.Context, c Cell) CellResult {
			return CellResult{Cell: c, Err: cell(c)}
		}})
	}
	retry := StoreOptions{RetryKilled: true}
	results := run(retry, func(c Cell) error {
		if c.Index == 0 {
			return KilledOutside("signal: killed")
		}
		return Killed(milp.Crashed, "exit status 7")
	})
	if failed, _ := Failures(results); Stopped(results) != nil || len(failed) != len(plan.Cells) {
		t.Errorf("%q failed", failed)
	}
	again := errors.New("it ran again")
	for i, r := range run(StoreOptions{}, func(Cell) error { return again }) {
		if !r.Reused || TerminationOf(r.Err) != milp.Crashed || errors.Is(r.Err, ErrOutside) != (i == 0) {
			t.Errorf("tables: cell %d: %v", i, r.Err)
		}
	}
	for i, r := range run(retry, func(Cell) error { return again }) {
		if r.Reused == (i == 0) || errors.Is(r.Err, again) != (i == 0) {
			t.Errorf("the next run: cell %d: %v", i, r.Err)
		}
	}
}
