package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/journal"
)

func (a *app) mergeCommand() *cobra.Command {
	var anyBuild, quiet bool
	c := &cobra.Command{
		Use:   "merge OUT [DIR...]",
		Short: "Make the tables of a run whose shards ran apart",
		Long: `Reads the finished cells of the directories, checks them against the plan, verifies
every schedule and writes the tables of the whole into OUT. Without a DIR, the
shards are in OUT itself. The traces and instance files that the suite names must be
at hand. Results are the same as those of a run without shards.

Exit codes: 0 complete; 2 the directories do not belong together; 3 some cell
failed or is missing: the tables hold what is there; 5 as for bench run; 130
interrupted: nothing was written, and the shards are as they were.`,
		Example: `  bench merge results/night                # shards that shared a directory
  bench merge results/night node1 node2 node3`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.merge(c.Context(), args[0], args[1:], anyBuild, quiet)
		},
	}
	c.Flags().BoolVar(&anyBuild, "any-build", false, "accept cells that another build of the program finished")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) merge(ctx context.Context, out string, dirs []string, anyBuild, quiet bool) error {
	words := shellLine(append([]string{"bench", "merge", out}, dirs...))
	if len(dirs) == 0 {
		dirs = []string{out}
	}
	start := time.Now()
	file, err := bench.ReadPlanFile(dirs[0])
	if err != nil {
		return usageError("%w", err)
	}
	var folders []string
	for _, dir := range dirs {
		other, err := bench.ReadPlanFile(dir)
		if err != nil {
			return usageError("%w", err)
		}
		if other.PlanID != file.PlanID {
			return usageError("%s holds plan %s (%s) and %s plan %s (%s): they do not belong together", dirs[0], file.PlanID, file.Suite, dir, other.PlanID, other.Suite)
		}
		folders = append(folders, filepath.Join(dir, journal.Folder))
	}
	plan, err := file.Plan(catalogue.Resolve)
	if err != nil {
		return usageError("%w", err)
	}
	claim, err := a.claim(ctx, out, bench.Claiming{File: file, Plan: plan, Instead: "choose another OUT"})
	if err != nil {
		return err
	}
	defer claim.Close()
	j, err := journal.Open(folders...)
	if err != nil {
		return usageError("%w", err)
	}
	defer j.Close()
	a.damaged(j)
	if builds := j.Builds(); len(builds) > 1 && !anyBuild {
		return usageError("the cells come from %d builds of the program, whose methods may differ: run all shards with one, or say --any-build", len(builds))
	}
	store := bench.NewStore(j, bench.StoreOptions{})
	cells := int64(len(plan.Cells)) // each is read twice
	steps := a.steps(quiet, func(done, total int64) string {
		return fmt.Sprintf("%d%% of %d cells", 100*done/max(total, 1), total/2)
	})
	end := sync.OnceFunc(steps.End)
	defer end()
	results := bench.Collect(ctx, plan, store, func(done int) { steps.show(int64(done), 2*cells, "reading") })
	stopped := interrupted("the shards keep every finished cell, and the tables in "+out+" are as they were", fmt.Sprintf("go on with %q", words))
	if ctx.Err() != nil {
		return stopped
	}
	a.unread(store)
	var missing []string
	for i := range results {
		if results[i].Skipped {
			missing = append(missing, fmt.Sprintf("%s on %s", plan.Cells[i].Method.Ref(), plan.Cells[i].Instance.Name))
		}
	}
	watch := func(done int) {
		if steps.show(cells+int64(done), 2*cells, "verifying"); done == len(results) {
			end() // what follows is printed
		}
	}
	err = a.tabulate(ctx, plan, results, out, tabulation{start: start, merged: true, watch: watch})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return stopped
	}
	if len(missing) > 0 && exitOf(err) != exitInvalid {
		return &exitError{exitIncomplete, fmt.Errorf("%d of %d cells are missing, the first: %s; run their shards, then merge again", len(missing), len(plan.Cells), missing[0])}
	}
	return err
}
