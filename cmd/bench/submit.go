package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/journal"
	"yardstick/internal/program"
)

type submitFlags struct {
	out         string
	suite       suiteFlags
	shards      int
	concurrent  int
	time        time.Duration
	cpus        int
	memory      string
	partition   string
	sbatch      []string
	retryFailed bool
	anyBuild    bool
	dryRun      bool
}

// mostTasks is how many tasks an array of Slurm has at most, unless the site
// raised MaxArraySize.
const mostTasks = 1000

// graceTime is how long before the end of its time a task is told; Slurm may do
// so up to a minute earlier.
const graceTime = time.Minute

// leastTime leaves a task some time before it is told.
const leastTime = 5 * time.Minute

func (a *app) submitCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit",
		Short: "Hand a suite to the queue of a cluster",
	}
	c.AddCommand(a.submitSlurmCommand())
	return c
}

func (a *app) submitSlurmCommand() *cobra.Command {
	f := submitFlags{time: time.Hour, cpus: 1}
	c := &cobra.Command{
		Use:   "slurm SUITE.yaml|DIR",
		Short: "Run a suite as a job array of Slurm, with a job that merges its results",
		Long: `Plans the suite, writes the plan and two scripts, array.sh and merge.sh, into the
result directory and submits them: an array whose every task runs one shard, and a
job that merges what they finished, whether or not all of them did. The directory,
the program and the traces must be visible under the same paths on every node.

Each task runs many cells. Their number is chosen so that a task takes about half
an hour, or half of --time if that is less, where the result directory holds cells
that are finished, and is at most 32 where it does not: a pilot such as "bench run
SUITE.yaml --shard 1/50 -o DIR" before pays. A minute before its time is up a task
is told, keeps what it finished and ends; killed and requeued tasks go on from
there too. To go on after the merge, submit DIR itself: only what is missing runs.`,
		Example: `  bench submit slurm suite.yaml -o results/night --time 1h --mem 5G
  bench submit slurm suite.yaml --shards 100 --concurrent 20 --partition short
  bench submit slurm results/night                      # what is missing
  bench submit slurm suite.yaml --dry-run               # write and print the scripts`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.submitSlurm(c.Context(), f, args) },
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "result directory (default results/NAME, or DIR)")
	f.suite.add(c)
	c.Flags().Var(between(1, maxShards, &f.shards), "shards", "tasks of the array (default by the times of finished cells)")
	c.Flags().Var(atLeast(0, &f.concurrent), "concurrent", "tasks at a time, at most; 0 for as many as the cluster has room for")
	c.Flags().Var(atLeast(leastTime, &f.time), "time", "wall-clock limit of a task and of the merge")
	c.Flags().Var(atLeast(1, &f.cpus), "cpus", "processors, and cells at a time, of a task")
	c.Flags().StringVar(&f.memory, "mem", "", "memory of a task, such as 5G (default the cluster's)")
	c.Flags().StringVar(&f.partition, "partition", "", "partition (default the cluster's)")
	c.Flags().StringArrayVar(&f.sbatch, "sbatch", nil, "another option of sbatch for both scripts, such as --account=lab; may be repeated")
	c.Flags().BoolVar(&f.retryFailed, "retry-failed", false, "run the cells again that failed")
	c.Flags().BoolVar(&f.anyBuild, "any-build", false, "use cells that another build of the program finished")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "write and print the scripts, submit nothing")
	return c
}

func (f *submitFlags) check() error {
	switch {
	case f.shards > mostTasks:
		return usageError("--shards %d: an array has 1 to %d tasks; a task runs many cells", f.shards, mostTasks)
	case strings.ContainsAny(f.memory+f.partition+strings.Join(f.sbatch, ""), "\n\r"):
		return usageError("--mem, --partition and --sbatch take one line each")
	}
	return nil
}

func (a *app) submitSlurm(ctx context.Context, f submitFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	file, plan, err := f.plan(args)
	if err != nil {
		return err
	}
	a.say(planNotes(plan))
	if f.out == "" {
		f.out = filepath.Join("results", plan.Suite.Name)
	}
	claim, err := a.claim(ctx, f.out, bench.Claiming{File: file, Plan: plan, Shared: true, Instead: "choose another -o"})
	if err != nil {
		return err
	}
	defer claim.Close()
	estimate, err := f.estimate(plan)
	if err != nil {
		return err
	}
	b := newBundle(estimate, f.shards, f.cpus, min(bundleTime, f.time/2))
	if len(b.tasks) == 0 {
		fmt.Fprintf(a.out, "all %d cells are finished: bench merge %s makes the tables\n", len(plan.Cells), f.out)
		return nil
	}
	fmt.Fprintln(a.err, b)
	s, err := newScripts(plan.Suite, f, b)
	if err != nil {
		return err
	}
	if err := a.writeScripts(s, f.dryRun); err != nil || f.dryRun {
		return err
	}
	return a.sbatch(ctx, s)
}

// plan reads the suite, or the plan of the result directory that is given
// instead.
func (f *submitFlags) plan(args []string) (*bench.PlanFile, *bench.Plan, error) {
	if !isFolder(args) {
		return readPlan(args, f.suite.settings())
	}
	if words := f.suite.words(); len(words) > 0 {
		return nil, nil, usageError("%s holds a plan: %s goes with a suite's file", args[0], words[0])
	}
	if f.out == "" {
		f.out = args[0]
	}
	return reopenPlan(args[0])
}

// isFolder reports whether the argument is a result directory rather than a
// suite.
func isFolder(args []string) bool {
	if len(args) == 0 {
		return false
	}
	info, err := os.Stat(args[0])
	return err == nil && info.IsDir()
}

// reopenPlan reads the plan of a result directory.
func reopenPlan(dir string) (*bench.PlanFile, *bench.Plan, error) {
	file, err := bench.ReadPlanFile(dir)
	if err != nil {
		return nil, nil, usageError("%w", err)
	}
	plan, err := file.Plan(catalogue.Resolve)
	if err != nil {
		return nil, nil, usageError("%w", err)
	}
	return file, plan, nil
}

// runFolder runs what is missing of the plan of a result directory.
func (a *app) runFolder(ctx context.Context, f runFlags, dir string) error {
	if words := f.suite.words(); len(words) > 0 {
		return usageError("%s holds a plan: %s goes with a suite's file", dir, words[0])
	}
	file, err := bench.ReadPlanFile(dir)
	if err != nil {
		return usageError("%w", err)
	}
	parsed, err := file.Parse()
	if err != nil {
		return usageError("%w", err)
	}
	if limit := parsed.Limits.Solve; f.limited && f.timeLimit != limit {
		return usageError("%s holds a plan with a limit of %v: --time-limit %v goes with a suite's file", dir, limit, f.timeLimit)
	}
	if f.out == "" {
		f.out = dir
	}
	f.again, f.origin = rerun(f, []string{dir}), originOf(parsed)
	if done, err := a.standing(ctx, f, file); done || err != nil {
		return err
	}
	plan, err := file.Plan(catalogue.Resolve)
	if err != nil {
		return usageError("%w", err)
	}
	return a.runOften(ctx, f, file, plan, nil)
}

// estimate says which cells are to be run and how long they will take, by the
// journal of the result directory.
func (f *submitFlags) estimate(plan *bench.Plan) (bench.Estimate, error) {
	j, err := journal.Open(filepath.Join(f.out, journal.Folder))
	if err != nil {
		return bench.Estimate{}, usageError("%w", err)
	}
	defer j.Close()
	o := bench.StoreOptions{Build: program.Build(), RetryFailed: f.retryFailed, RetryKilled: true}
	if f.anyBuild {
		o.Build = ""
	}
	return bench.NewStore(j, o).Estimate(plan), nil
}

// writeScripts writes the scripts; those that were changed by hand are kept
// beside.
func (a *app) writeScripts(s *scripts, show bool) error {
	if err := os.MkdirAll(s.logs, 0o755); err != nil {
		return usageError("%w", err)
	}
	for _, script := range []struct{ path, text string }{{s.arrayPath, s.array}, {s.mergePath, s.merge}} {
		if show {
			fmt.Fprintf(a.out, "# %s\n%s\n", script.path, script.text)
		}
		old, err := os.ReadFile(script.path)
		switch {
		case err == nil && string(old) == script.text:
			continue
		case err == nil:
			if err := os.Rename(script.path, script.path+"~"); err != nil {
				return usageError("%w", err)
			}
			fmt.Fprintf(a.err, "%s is new; the one that was there is %s~\n", script.path, filepath.Base(script.path))
		}
		if err := a.writeFile(script.path, func(w io.Writer) error { _, err := io.WriteString(w, script.text); return err }); err != nil {
			return err
		}
		if err := os.Chmod(script.path, 0o755); err != nil {
			return usageError("%w", err)
		}
	}
	if show {
		fmt.Fprintf(a.out, "# to submit them:\n%s\n", s.byHand())
	}
	return nil
}

// sbatch submits the scripts and says how to watch, cancel and go on.
func (a *app) sbatch(ctx context.Context, s *scripts) error {
	array, err := submitScript(ctx, s.arrayPath)
	if err != nil {
		return err
	}
	merge, err := submitScript(ctx, "--dependency=afterany:"+array, s.mergePath)
	if err != nil {
		return fmt.Errorf("the array is submitted, as job %s (scancel %s cancels it), but not its merge: %w", array, array, err)
	}
	fmt.Fprintf(a.out, `array   job %s: %d tasks
merge   job %s: starts when the array has ended, however it ended
watch   squeue --jobs=%s,%s
logs    %s
cancel  scancel %s %s
go on   bench submit slurm %s
`, array, s.tasks, merge, array, merge, shellWord(filepath.Join(s.logs, array+"_*.log")), array, merge, shellWord(s.out))
	return nil
}

// submitScript calls sbatch and returns the job's ID.
func submitScript(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "sbatch", slices.Concat([]string{"--parsable"}, args)...)
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", usageError("sbatch is not on PATH: submit from a node of the cluster, or write the scripts alone with --dry-run")
	case ctx.Err() != nil:
		return "", &exitError{exitInterrupted, errors.New("interrupted: nothing more is submitted")}
	case err != nil:
		return "", usageError("sbatch refused %s: %w: %s", args[len(args)-1], err, strings.Join(strings.Fields(errOut.String()), " "))
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out.String()), ";") // ID;CLUSTER
	if id == "" {
		return "", usageError("sbatch named no job: %s", strings.TrimSpace(errOut.String()))
	}
	return id, nil
}
