package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/placing"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

type placeFlags struct {
	placeSettings
	methods   []string
	timeLimit time.Duration
	out       string
	quiet     bool
}

// placeSettings is what the manifest says of a run: all that its values depend
// on besides the files and the versions.
type placeSettings struct {
	Command        string   `json:"command"`
	Instance       string   `json:"instance,omitempty"`
	Job            string   `json:"job,omitempty"`
	AllJobs        bool     `json:"allJobs,omitempty"`
	Profiles       []string `json:"profiles,omitempty"`
	GPUs           []int    `json:"gpus,omitempty"`
	Stages         []int    `json:"stages,omitempty"`
	Cluster        string   `json:"cluster,omitempty"`
	Inter          string   `json:"inter,omitempty"`
	Intra          string   `json:"intra,omitempty"`
	Parts          []int    `json:"parts,omitempty"`
	Fragmentations int      `json:"fragmentations,omitempty"`
	Order          string   `json:"order,omitempty"`
	Seed           uint64   `json:"seed,omitempty"`
	Methods        []string `json:"methods"`
	TimeLimit      string   `json:"timeLimit"`
	Nodes          int      `json:"nodes,omitempty"`
}

func (a *app) placeCommand() *cobra.Command {
	f := placeFlags{timeLimit: time.Minute}
	c := &cobra.Command{
		Use:   "place [INSTANCE]",
		Short: "Place jobs on given parts of servers: Heavy-Edge against the optimal placement",
		Long: `Places jobs of an instance (JSON), or models from layer profiles, on prescribed
parts of servers by several methods, side by side: iteration time (alpha) and
cut of each placement, over the least that these parts allow, what is proven,
and the time taken. Every placement is verified.

The parts are those of the fewest servers of the empty cluster, or those of
--parts, or those of --fragmentations N random ones: on every server between
none and all of its GPUs are free, each number as likely, and the job takes all
free GPUs of one server after another (--order) until it has its gang.

Methods:
` + describePlacements() + `
SOLVER is branch, lpsolve-mip, or one of glpsol, cbc, highs that is installed.

Exit codes: 0 done; 2 bad input; 3 some method failed; 5 an invalid placement or
one below a proven bound; 130 interrupted.`,
		Example: `  bench place gang.json --job 3
  bench place gang.json --all-jobs --fragmentations 5
  bench place --profile builtin:v100/vgg19 --gpus 16 --parts 8,4,2,2 --methods all
  bench place --profile builtin:v100/vgg19,builtin:v100/gpt-175b --gpus 16,64 --stages 4,64 \
      --cluster 250x8 --fragmentations 20 --seed 1 -o results/table2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.place(c.Context(), c, f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.Job, "job", "", "index or name of the job to place")
	fl.BoolVar(&f.AllJobs, "all-jobs", false, "place every job of the instance; jobs alike are placed once")
	fl.StringSliceVar(&f.Profiles, "profile", nil, "SOURCE/MODEL instead of an instance, such as builtin:v100/vgg19 or layers.parquet/vgg19; may be repeated")
	fl.IntSliceVar(&f.GPUs, "gpus", nil, "with --profile: gang size; one for all models or one for each")
	fl.IntSliceVar(&f.Stages, "stages", nil, "with --profile: number of pipeline stages, 0 for the best; one for all models or one for each")
	fl.StringVar(&f.Cluster, "cluster", "250x8", "with --profile: servers x GPUs per server")
	fl.StringVar(&f.Inter, "inter", "10Gbps", "with --profile: bandwidth between servers")
	fl.StringVar(&f.Intra, "intra", "300GB/s", "with --profile: bandwidth within a server")
	fl.IntSliceVar(&f.Parts, "parts", nil, "GPUs to use on each of several servers, such as 8,4,2,2")
	fl.Var(between(1, maxFragmentations, &f.Fragmentations), "fragmentations", "number of random fragmentations of the cluster to place each job on")
	fl.StringVar(&f.Order, "order", "index", "with --fragmentations: servers to take first: index, most or least (free GPUs)")
	fl.Uint64Var(&f.Seed, "seed", 1, "with --fragmentations: master seed")
	fl.StringSliceVar(&f.methods, "methods", []string{"combinatorial"}, "methods and sets of them")
	fl.Var(atLeast(0, &f.timeLimit), "time-limit", "wall-clock limit of each program; 0 for none")
	fl.Var(atLeast(0, &f.Nodes), "nodes", "node limit of each program; 0 for none")
	fl.StringVarP(&f.out, "out", "o", "", "result directory to write: placements.arrow and manifest.json")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) place(ctx context.Context, c *cobra.Command, f placeFlags, args []string) error {
	if err := f.check(c, args); err != nil {
		return err
	}
	refs, err := suite.ParseRefs(strings.Join(f.methods, ","))
	if err != nil {
		return usageError("--methods: %w", err)
	}
	methods, err := catalogue.ResolvePlacements(refs)
	if err != nil {
		return usageError("--methods: %w", err)
	}
	cases, inputs, leftOut, err := f.cases(args)
	if err != nil {
		return err
	}
	if leftOut > 0 {
		fmt.Fprintf(a.err, "%d jobs are left out: bench place %v\n", leftOut, sched.ErrStageGraph)
	}
	if f.out != "" {
		claim, err := a.claim(ctx, f.out, bench.Claiming{Instead: "choose another -o"})
		if err != nil {
			return err
		}
		defer claim.Close()
	}
	start := time.Now()
	steps := a.steps(f.quiet, counted("placements"))
	results := placing.Run(ctx, cases, methods, placing.Options{Limits: milp.Limits{Time: f.timeLimit, Nodes: f.Nodes},
		Progress: func(done, total int, next string) { steps.show(int64(done), int64(total), next) }, Debug: a.debug})
	steps.End()
	failed, skipped := placing.Failures(results)
	for _, err := range failed {
		if errors.Is(err, bench.ErrMachine) { // the others were not even tried
			return &exitError{exitInternal, err}
		}
	}
	rows, violation := placing.Rows(results)
	run := &record.Run{Placements: rows}
	if run.Manifest, err = f.manifest(args, cases, methods, inputs, start); err != nil {
		return err
	}
	run.Manifest.Execution = record.Execution{Command: os.Args, Workers: 1, Cells: len(results), Failed: len(failed), Skipped: skipped,
		Wall: time.Since(start).Seconds()}
	if f.out != "" {
		if err := record.Write(f.out, run); err != nil {
			return usageError("cannot write %s: %w", f.out, err)
		}
	}
	if err := a.showReport(run, nil, report.Options{Part: report.Summaries}); err != nil {
		return err
	}
	where := "above"
	if f.out != "" {
		where = "above and in " + f.out
	}
	return placeStatus(violation, failed, skipped, where)
}

// placeStatus turns what went wrong, worst first, into the command's error; where is what
// was finished.
func placeStatus(violation error, failed []error, skipped int, where string) error {
	if violation != nil {
		return &exitError{exitInvalid, violation}
	}
	code := exitIncomplete
	for _, err := range failed {
		if c := exitCode(err); c == exitInvalid || code != exitInvalid && c == exitInternal {
			code = c
		}
	}
	switch {
	case code != exitIncomplete:
		return &exitError{code, failed[0]}
	case skipped > 0:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted with %d placements to go: what was finished is %s; the same command begins anew", skipped, where)}
	case len(failed) > 0:
		return &exitError{exitIncomplete, fmt.Errorf("%d placements failed, the first: %w", len(failed), failed[0])}
	}
	return nil
}

// check refuses flags that do not go together.
func (f *placeFlags) check(c *cobra.Command, args []string) error {
	set := func(names ...string) string {
		for _, name := range names {
			if c.Flags().Changed(name) {
				return "--" + name
			}
		}
		return ""
	}
	switch {
	case len(args) == 0 && len(f.Profiles) == 0:
		return usageError("give an instance, or --profile SOURCE/MODEL with --gpus, such as --profile builtin:v100/vgg19 --gpus 16")
	case len(args) > 0 && set("profile", "gpus", "stages", "cluster", "inter", "intra") != "":
		return usageError("%s holds its own jobs and cluster: %s does not go with it", args[0], set("profile", "gpus", "stages", "cluster", "inter", "intra"))
	case len(args) == 0 && set("job", "all-jobs") != "":
		return usageError("%s goes with an instance", set("job", "all-jobs"))
	case f.Job != "" && f.AllJobs:
		return usageError("--job and --all-jobs exclude each other")
	case set("parts") != "" && set("fragmentations") != "":
		return usageError("--parts and --fragmentations exclude each other")
	case set("parts") != "" && (f.AllJobs || len(f.Profiles) > 1):
		return usageError("--parts are those of one job")
	case f.Fragmentations == 0 && set("order", "seed") != "":
		return usageError("%s goes with --fragmentations", set("order", "seed"))
	case f.Seed > 1<<53:
		return usageError("--seed is %d: at most 2^53, so that every tool reads it exactly", f.Seed)
	}
	return nil
}

func (f *placeFlags) manifest(args []string, cases []*placing.Case, methods []placing.Method, inputs []record.Input, created time.Time) (record.Manifest, error) {
	s := f.placeSettings
	s.Command, s.TimeLimit = "place", f.timeLimit.String()
	if len(args) > 0 {
		s.Instance, s.Cluster, s.Inter, s.Intra = args[0], "", "", ""
	}
	if f.Fragmentations == 0 {
		s.Order, s.Seed = "", 0
	}
	var ids []string
	for _, m := range methods {
		s.Methods, ids = append(s.Methods, m.Name()), append(ids, m.ID())
	}
	text, err := json.Marshal(s)
	if err != nil {
		return record.Manifest{}, err
	}
	h := sha256.New() // of what is placed where, by what, within which limits
	for _, c := range cases {
		fmt.Fprintln(h, c.ID())
	}
	fmt.Fprintln(h, ids, s.TimeLimit, s.Nodes)
	return record.Manifest{Created: created, Suite: text, PlanID: hex.EncodeToString(h.Sum(nil)[:16]), Inputs: inputs,
		Machine: record.ThisMachine(), Versions: currentVersions()}, nil
}

func describePlacements() string {
	var b strings.Builder
	for _, m := range catalogue.Placements() {
		fmt.Fprintf(&b, "  %-22s %s\n", m.Name, m.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
