package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/children"
	"yardstick/bench/journal"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/suite"
	"yardstick/bench/tables"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/program"
)

//go:embed suites/quick.yaml
var quickSuite []byte

type runFlags struct {
	out         string
	workers     int
	repeat      int
	suite       suiteFlags
	timeLimit   time.Duration
	limited     bool // by timeLimit; otherwise as the suite says
	shard       string
	force       bool
	retryFailed bool
	anyBuild    bool
	quiet       bool

	again  string       // the command that goes on, if it is not bench run
	silent bool         // no report
	origin bench.Origin // of the plan, taken before it was made; "" if nobody asks
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [SUITE.yaml|DIR]",
		Short: "Run a suite and print its ratio table",
		Long: `Runs every method of the suite on every instance, verifies every schedule,
divides every cost by the strongest proven denominator and writes the result
directory. Without a suite, the embedded one runs: it needs no file, no network
and less than two minutes on two cores.

Cells run in child processes with the suite's limits in time and memory. What is
finished is kept in the result directory at once: after Ctrl-C, a crash or a kill,
the same command goes on where it was. A result directory in place of a suite runs
what is missing of its plan.

A result directory holds one run. While something is at work there others are refused;
another suite is refused unless --force has it replace the run.

Exit codes: 0 all cells done; 1 the machine failed: the same command goes on; 2 bad
suite, trace or instance, or another run's directory; 3 some cell failed; 5 an invalid
schedule or a cost below a proven bound; 130 interrupted.`,
		Example: `  bench run
  bench run suite.yaml -o results/first -j 2
  bench run suite.yaml --set slice.jobs=6,8 --set seed=2
  bench run --only pipelines,small --methods a-srpt,spjf --set small.slice.jobs=5 -o results/part
  bench run suite.yaml --repeat 5 -o results/timed      # median and spread of the times
  bench run suite.yaml --shard 1/3 -o results/first   # then 2/3, 3/3, then: bench merge results/first`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.limited = c.Flags().Changed("time-limit")
			return a.run(c.Context(), f, args)
		},
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "result directory (default results/NAME)")
	c.Flags().VarP(between(1, maxWorkers, &f.workers), "jobs", "j", "cells at a time (default one per core)")
	f.suite.add(c)
	c.Flags().Var(between(1, maxRepeats, &f.repeat), "repeat", "run everything so often, and print median and spread of the times; the further runs are kept in repeats/ of the directory")
	c.Flags().Var(atLeast(0, &f.timeLimit), "time-limit", "wall-clock limit of each solve; 0 for none (default the suite's)")
	c.Flags().StringVar(&f.shard, "shard", "", "run one part of the cells, i/n, or auto in an array of Slurm or Kubernetes; bench merge then makes the tables")
	c.Flags().BoolVar(&f.force, "force", false, "run the cells again that an earlier run finished, and replace another suite's")
	c.Flags().BoolVar(&f.retryFailed, "retry-failed", false, "run the cells again that failed")
	c.Flags().BoolVar(&f.anyBuild, "any-build", false, "use cells that another build of the program finished")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) run(ctx context.Context, f runFlags, args []string) error {
	if isFolder(args) {
		return a.runFolder(ctx, f, args[0])
	}
	if f.limited {
		f.suite.sets = append(slices.Clone(f.suite.sets), "limits.solve="+f.timeLimit.String())
	}
	file, parsed, err := readSuite(args, f.suite.settings())
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = filepath.Join("results", parsed.Name)
	}
	f.origin = originOf(parsed)
	if done, err := a.standing(ctx, f, file); done || err != nil {
		return err
	}
	plan, err := planSuite(file, parsed)
	if err != nil {
		return err
	}
	return a.runOften(ctx, f, file, plan, args)
}

// runPlan runs the cells of a plan that are not finished, and tabulates all.
func (a *app) runPlan(ctx context.Context, f runFlags, file *bench.PlanFile, plan *bench.Plan, args []string) error {
	shard, err := parseShard(f.shard, os.Getenv)
	if err != nil {
		return err
	}
	notes := planNotes(plan)
	a.say(notes)
	if f.workers == 0 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	instead := "choose another -o, or replace it with --force"
	if shard.Count > 1 {
		instead = "shards of one directory belong to one plan; choose another -o"
	}
	claim, err := a.claim(ctx, f.out, bench.Claiming{File: file, Plan: plan, Shared: shard.Count > 1, Force: f.force, Instead: instead})
	if err != nil {
		return err
	}
	defer claim.Close()
	store, err := openStore(f, file, shard)
	if err != nil {
		return err
	}
	defer store.close()
	a.damaged(store.journal)

	start := time.Now()
	workers := children.New(plan.Suite.Limits, f.workers)
	workers.Debug = a.debug
	defer workers.Close()
	progress := &bench.Progress{Line: a.line(f.quiet)}
	results := bench.Run(ctx, plan, bench.Options{Workers: f.workers, Progress: progress, Debug: a.debug, Execute: workers.Run, Store: store.Store, Shard: shard,
		Begin: func() { a.again(store.Store, len(plan.Cells)) }})
	if err := store.Err(); err != nil {
		return &exitError{exitInternal, err}
	}
	a.unread(store.Store)
	again := rerun(f, args)
	if f.again != "" {
		again = f.again
	}
	if err := bench.Stopped(results); err != nil {
		return &exitError{exitInternal, fmt.Errorf("%w; what is finished is kept: when that is mended, go on with %q", err, again)}
	}
	if shard.Count > 1 {
		return a.endShard(results, shard, f.out, again)
	}
	err = a.tabulate(context.WithoutCancel(ctx), plan, results, f.out, tabulation{inputs: args, workers: f.workers, start: start, again: again, silent: f.silent})
	if err != nil || f.anyBuild || len(store.journal.Damaged)+len(store.Unread()) > 0 {
		return err
	}
	return finish(f, plan, notes)
}

// rerun is the command that goes on with an interrupted run.
func rerun(f runFlags, args []string) string {
	parts := append([]string{"bench", "run"}, args...)
	parts = append(parts, "-o", f.out)
	parts = append(parts, f.suite.words()...)
	if f.repeat > 1 {
		parts = append(parts, "--repeat", fmt.Sprint(f.repeat))
	}
	if f.shard != "" {
		parts = append(parts, "--shard", f.shard)
	}
	return shellLine(parts)
}

// shellLine is a command line, its words quoted for a shell where that is needed.
func shellLine(parts []string) string {
	for i, p := range parts {
		if strings.ContainsAny(p, " {}()*?&;'\"") {
			parts[i] = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
	}
	return strings.Join(parts, " ")
}

// parseShard reads i/n, counted from 1. auto takes them from the environment of
// a job array of Slurm, or of an indexed job of Kubernetes whose BENCH_SHARDS says
// how many there are.
func parseShard(text string, env func(string) string) (bench.Shard, error) {
	var i, n int
	switch text {
	case "":
		return bench.Shard{}, nil
	case "auto":
		var first int
		if _, err := fmt.Sscan(env("SLURM_ARRAY_TASK_ID"), &i); err == nil {
			_, err1 := fmt.Sscan(env("SLURM_ARRAY_TASK_COUNT"), &n)
			_, err2 := fmt.Sscan(env("SLURM_ARRAY_TASK_MIN"), &first)
			if err := errors.Join(err1, err2); err != nil {
				return bench.Shard{}, usageError("--shard auto: SLURM_ARRAY_TASK_ID is %d, but SLURM_ARRAY_TASK_COUNT and _MIN cannot be read", i)
			}
			i += 1 - first
			break
		}
		if _, err := fmt.Sscan(env("JOB_COMPLETION_INDEX"), &i); err != nil {
			return bench.Shard{}, usageError("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set: say --shard i/n")
		}
		if _, err := fmt.Sscan(env("BENCH_SHARDS"), &n); err != nil {
			return bench.Shard{}, usageError("--shard auto: JOB_COMPLETION_INDEX is %d, but BENCH_SHARDS does not say how many there are", i)
		}
		i++
	default:
		var rest string
		if k, _ := fmt.Sscanf(text+" ", "%d/%d%s", &i, &n, &rest); k != 2 {
			return bench.Shard{}, usageError("--shard %q: it must be i/n with 1 ≤ i ≤ n, or auto", text)
		}
	}
	if i < 1 || i > n {
		return bench.Shard{}, usageError("--shard %q: part %d of %d: it must be i/n with 1 ≤ i ≤ n", text, i, n)
	}
	return bench.Shard{Index: i - 1, Count: n}, nil
}

// resultStore is a store with the journal that it keeps its cells in.
type resultStore struct {
	*bench.Store
	journal *journal.Journal
}

func (s *resultStore) close() { _ = s.journal.Close() } // what matters was synced, or is told by Err

func openStore(f runFlags, file *bench.PlanFile, shard bench.Shard) (*resultStore, error) {
	folder := filepath.Join(f.out, journal.Folder)
	j, err := journal.Open(folder)
	if err != nil {
		return nil, usageError("%w", err)
	}
	h := journal.Header{Build: program.Build(), Machine: record.ThisMachine().ID(), Plan: file.PlanID, Created: time.Now().UTC()}
	if shard.Count > 1 {
		h.Shard = fmt.Sprintf("%d/%d", shard.Index+1, shard.Count)
	}
	j.Start(folder, h)
	o := bench.StoreOptions{Build: h.Build, Machine: h.Machine, Force: f.force, RetryFailed: f.retryFailed, RetryKilled: true}
	if f.anyBuild {
		o.Build = ""
	}
	return &resultStore{bench.NewStore(j, o), j}, nil
}

// claim takes a result directory for what is to run there.
func (a *app) claim(ctx context.Context, dir string, c bench.Claiming) (*bench.Claim, error) {
	c.Resolve, c.Command = catalogue.Resolve, strings.Join(strings.Fields(strings.Join(os.Args, " ")), " ")
	claim, err := c.Take(ctx, dir)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &exitError{exitInterrupted, errors.New("interrupted: nothing has run")}
	case errors.Is(err, bench.ErrBusy):
		return nil, &exitError{exitInternal, err}
	case err != nil:
		return nil, usageError("%w", err)
	}
	if claim.Note != "" {
		fmt.Fprintln(a.err, claim.Note)
	}
	return claim, nil
}

// unread tells of entries that do not count although their hashes are right.
func (a *app) unread(s *bench.Store) {
	if broken := s.Unread(); len(broken) > 0 {
		fmt.Fprintf(a.err, "%d entries of the journal cannot be read back, the first: %v: these cells are not finished\n", len(broken), broken[0])
	}
}

// again says which cells run again that were finished, and why.
func (a *app) again(s *bench.Store, cells int) {
	for why, text := range []string{
		bench.OtherBuild:   "another build of the program finished them, whose methods may differ; --any-build takes them as they are",
		bench.OtherMachine: "a limit in time or memory shaped them on another machine",
		bench.WasKilled:    "something else than the run had ended their processes",
		bench.DidFail:      "they failed",
	} {
		if n := s.Again()[bench.Again(why)]; n > 0 {
			fmt.Fprintf(a.err, "%d of %s run again: %s\n", n, output.Count(cells, "cell"), text)
		}
	}
}

func (a *app) damaged(j *journal.Journal) {
	if n := len(j.Damaged); n > 0 {
		fmt.Fprintf(a.err, "%d damaged entries in the journal, the first at %s: these cells run again\n", n, j.Damaged[0])
	}
}

// endShard says how the part of a run went that has no tables of its own.
func (a *app) endShard(results []bench.CellResult, shard bench.Shard, dir, again string) error {
	var mine, done int
	for i := range results {
		if shard.Has(i) {
			mine++
			if !results[i].Skipped {
				done++
			}
		}
	}
	failed, _ := bench.Failures(results)
	fmt.Fprintf(a.out, "shard %d/%d: %d of %d cells in %s; when all shards are done: bench merge %s\n", shard.Index+1, shard.Count, done, mine, dir, dir)
	if done < mine {
		return &exitError{exitInterrupted, fmt.Errorf("interrupted with %s to go: go on with %q", output.Count(mine-done, "cell"), again)}
	}
	if len(failed) > 0 {
		return &exitError{exitIncomplete, fmt.Errorf("%s failed, the first: %s", output.Count(len(failed), "cell"), failed[0])}
	}
	return nil
}

// tabulation is what tables of results need beside the results.
type tabulation struct {
	inputs  []string // files to hash
	workers int
	start   time.Time
	again   string // the command that goes on
	merged  bool   // the cells come from shards
	silent  bool   // no report

	watch func(done int) // is told how many cells are in the tables; nil for nobody
}

// tabulate writes the tables of the results, prints the report and says what
// went wrong. After ctx has ended it writes nothing, and returns its error.
func (a *app) tabulate(ctx context.Context, plan *bench.Plan, results []bench.CellResult, dir string, t tabulation) error {
	reused := 0
	for i := range results {
		if results[i].Reused {
			reused++
		}
	}
	rows, violation := tables.Rows(ctx, plan, results, t.watch)
	if rows == nil {
		return violation
	}
	failed, skipped := bench.Failures(results)
	var err error
	rows.Manifest, err = a.manifest(plan, t.inputs, t.start)
	if err != nil {
		return err
	}
	rows.Manifest.Execution = record.Execution{Command: os.Args, Workers: t.workers, Cells: len(plan.Cells),
		Failed: len(failed), Skipped: skipped, Reused: reused, Wall: time.Since(t.start).Seconds()}
	if err := record.Write(dir, rows); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	page, err := report.WriteFile(rows)
	if err != nil {
		return err
	}
	if !t.silent {
		if err := a.showReport(rows, nil, report.Options{}); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "report %s\n", page)
	}
	if reused > 0 && !t.merged {
		fmt.Fprintf(a.err, "%d of %d cells were finished before; --force runs them again\n", reused, len(plan.Cells))
	}
	return runStatus(results, violation, failed, skipped, t.again)
}

// runStatus turns what went wrong, worst first, into the command's error.
func runStatus(results []bench.CellResult, violation error, failed []string, skipped int, again string) error {
	if violation != nil {
		return &exitError{exitInvalid, violation}
	}
	for i := range results {
		if errors.Is(results[i].Err, bench.ErrInvalidSchedule) || errors.Is(results[i].Err, bench.ErrBoundRefuted) {
			return &exitError{exitInvalid, results[i].Err}
		}
	}
	switch {
	case skipped > 0:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted with %s to go: what was finished is in the table; go on with %q", output.Count(skipped, "cell"), again)}
	case len(failed) > 0:
		return &exitError{exitIncomplete, fmt.Errorf("%s failed, the first: %s", output.Count(len(failed), "cell"), failed[0])}
	}
	return nil
}

// readSuite reads the named suite, or the embedded one.
func readSuite(args, settings []string) (*bench.PlanFile, *suite.Suite, error) {
	file := &bench.PlanFile{Suite: "the embedded suite", Text: string(quickSuite), Settings: settings}
	if len(args) > 0 {
		data, err := input.Read(args[0])
		if err != nil {
			return nil, nil, usageError("%w", err)
		}
		file.Suite, file.Text = args[0], string(data)
	}
	parsed, err := file.Parse()
	if err != nil {
		return nil, nil, usageError("%w", err)
	}
	return file, parsed, nil
}

// readPlan reads the named suite, or the embedded one, and plans it.
func readPlan(args, settings []string) (*bench.PlanFile, *bench.Plan, error) {
	file, parsed, err := readSuite(args, settings)
	if err != nil {
		return nil, nil, err
	}
	plan, err := planSuite(file, parsed)
	return file, plan, err
}

// newPlan plans the suite of a file and notes there which plan it is.
func newPlan(file *bench.PlanFile) (*bench.Plan, error) {
	parsed, err := file.Parse()
	if err != nil {
		return nil, usageError("%w", err)
	}
	return planSuite(file, parsed)
}

// planSuite is newPlan of a suite that was read from the file.
func planSuite(file *bench.PlanFile, parsed *suite.Suite) (*bench.Plan, error) {
	plan, err := bench.NewPlan(parsed, catalogue.Resolve)
	if err != nil {
		return nil, usageError("%w", err)
	}
	file.PlanID, file.Cells, file.MaxJobs = plan.ID(), len(plan.Cells), plan.MaxJobs
	return plan, nil
}

// planNotes are lines on what was dropped on the way from traces to instances, and which methods cannot run.
func planNotes(plan *bench.Plan) (notes []string) {
	broken := map[string]bool{}
	for _, c := range plan.Cells {
		if err, name := bench.Broken(c.Method), c.Method.Ref().String(); err != nil && !broken[name] {
			broken[name] = true
			notes = append(notes, fmt.Sprintf("%s cannot run, and its cells fail: %v", name, err))
		}
	}
	for _, in := range plan.Instances {
		if in.Note != "" {
			notes = append(notes, in.Note)
		}
	}
	return notes
}

// say prints lines to standard error.
func (a *app) say(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(a.err, line)
	}
}

func (a *app) manifest(plan *bench.Plan, args []string, created time.Time) (record.Manifest, error) {
	suite, err := json.Marshal(plan.Suite)
	if err != nil {
		return record.Manifest{}, err
	}
	m := record.Manifest{Created: created, Suite: suite, PlanID: plan.ID(), Machine: record.ThisMachine(), Versions: currentVersions()}
	if plan.Suite.Matrix != nil {
		m.Params = plan.Suite.Matrix.Params()
	}
	m.Inputs, err = plan.Inputs(args...)
	return m, err
}

func (a *app) planCommand() *cobra.Command {
	var f suiteFlags
	var format string
	c := &cobra.Command{
		Use:   "plan [SUITE.yaml]",
		Short: "List the cells of a suite before anything runs",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains([]string{"table", "jsonl"}, format) {
				return usageError("--format %q: it must be table or jsonl", format)
			}
			_, plan, err := readPlan(args, f.settings())
			if err != nil {
				return err
			}
			a.say(planNotes(plan))
			if format == "jsonl" {
				return plan.WriteLines(a.out)
			}
			for _, c := range plan.Cells {
				fmt.Fprintf(a.out, "%s  %-14s %6d jobs  %5d GPUs  %s\n", c.ID[:12], c.Instance.Name, len(c.Instance.Jobs), c.Instance.Cluster.GPUs(), c.Method.Ref())
			}
			a.planLoads(plan)
			fmt.Fprintf(a.out, "%s on %s, plan %s\n", output.Count(len(plan.Cells), "cell"), output.Count(len(plan.Instances), "instance"), plan.ID())
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&format, "format", "table", "table or jsonl, one object per cell")
	return c
}

// planLoads prints the offered loads of each source's instances, one line for every
// setting of the swept keys. Elastic jobs have none.
func (a *app) planLoads(plan *bench.Plan) {
	var loads []record.Opt[float64]
	for i, in := range plan.Instances {
		if in.Model.Gangs() {
			loads = append(loads, in.OfferedLoad())
		}
		if i+1 < len(plan.Instances) && plan.Instances[i+1].Family == in.Family && maps.Equal(plan.Instances[i+1].Swept, in.Swept) {
			continue
		}
		name := in.Family
		for _, key := range slices.Sorted(maps.Keys(in.Swept)) {
			name += " " + key + "=" + in.Swept[key]
		}
		if l := report.NewLoads(loads); l != nil {
			fmt.Fprintf(a.out, "offered load of %s: %s\n", name, l)
		} else if len(loads) > 0 {
			fmt.Fprintf(a.out, "offered load of %s: none, bursts alone\n", name)
		}
		loads = nil
	}
}

// isTerminalWriter is isTerminal for a writer that may be a file.
func isTerminalWriter(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && isTerminal(f)
}

// fileOf returns the file that a writer writes to, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if c, ok := w.(*checkedWriter); ok {
		w = c.w
	}
	f, ok := w.(*os.File)
	return f, ok
}

// isTerminal reports whether f is a character device, for output that is
// rewritten in place.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
