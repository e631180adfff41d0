package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/hunt"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
	"yardstick/sched"
)

type huntFlags struct {
	policyFlags
	model, objective string
	space            hunt.Space
	budget           time.Duration
	evaluations      int64
	seed             uint64
	workers          int
	keep             string
	against          string
	conjecture       string
	window           windowFlags
	out, resume      string
	quiet            bool
}

// huntedName is what a suite has to call an instance that was found, for policies
// that draw random numbers: their seed depends on it.
const huntedName = "hunted"

func (a *app) huntCommand() *cobra.Command {
	f := huntFlags{space: hunt.Space{Jobs: 6, GPUs: 4, Servers: 1}}
	c := &cobra.Command{
		Use:   "hunt --policy POLICY --model MODEL --jobs N --gpus G",
		Short: "Search for the instance with the largest proven ratio of a policy",
		Long: `Searches for the instance on which a policy is worst compared with the proven
optimum: simulated annealing with restarts over releases, gangs, running times and
what else the model has. What it finds is shrunk, to the fewest jobs and the
smallest numbers that keep the ratio, its optimum is proven once more, and it is
written with -o: FILE.json is the instance, FILE.proof.json has both schedules,
FILE.certificate.json proves the optimum where that takes few steps.

--budget ends the search after a time. --evaluations ends it after so many
instances; what is found then depends on the seed only, not on -j. Ctrl-C ends it
early and keeps the worst found so far. With --resume FILE the search is kept in the file, and
goes on from there if the file exists.

Predictions: policies that predict know no past here and take every job to be of
no length; give them -p predictor=perfect, or hunt a-srpt-perfect.

--against hunts for the instance on which the policy costs the most times what another
policy does: where is mine worse than sjf? Both schedules are verified, and no optimum is
proven; the other policy may be of another class, whose name is in what is written.

--conjecture hunts for the largest violation of a statement in place of a policy, such as
'cost(sjf) <= 3*opt + p_max'. It knows + - * / ^, lg, min and max; cost(POLICY), bound(NAME)
and opt, each with another objective if it is named after a comma, opt also with a class;
and of the instance n, G, M servers, g_max, p_max, p_min, p_sum, area, r_max, w_max and
w_sum. Times are in seconds, arithmetic is exact: 3/2 is one and a half. The exit code is
3 if the statement is not refuted, which proves nothing.

--trace looks for the worst of the windows of a trace, of --window jobs each, which -s makes
instances of as bench instance build does. The ratio of windows of up to 12 jobs is proven;
of more it is over the schedule of a bracket, and so at least what is said. Windows that a
bound shows to be no worse are passed over, so that the worst of all is found, or how many
others may be worse is said. --budget ends the search with what there is.

--policy-command hunts a program. One that says again in its hello is kept from one
instance to the next, which is many times as fast.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.window.trace != "" {
				return a.huntWindows(c.Context(), &f, c.Flags())
			}
			if f.window.jobs > 0 || f.window.stride > 0 || f.window.settings != nil {
				return usageError("--window, --stride and --set go with --trace")
			}
			return a.hunt(c.Context(), &f)
		},
	}
	c.AddCommand(a.huntFamilyCommand(), a.huntEvaluateCommand())
	f.add(c.Flags(), "a-srpt-perfect or srtf")
	c.Flags().StringVar(&f.model, "model", "gang", "one of "+strings.Join(texts(sched.Models()), ", ")+": in slots, but gang in continuous time")
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "whose ratio counts")
	c.Flags().StringVar(&f.against, "against", "", "a policy to compare with in place of the optimum, such as sjf or 'sjf(blocking=skip)'")
	f.window.add(c.Flags())
	c.Flags().StringVar(&f.conjecture, "conjecture", "", "a statement to refute in place of a policy, such as 'cost(sjf) <= 2*opt'")
	c.Flags().Var(between(1, maxHuntedJobs, &f.space.Jobs), "jobs", "the most jobs")
	c.Flags().Var(between(1, sched.MaxGPUs, &f.space.GPUs), "gpus", "GPUs of the cluster")
	c.Flags().Var(between(1, sched.MaxGPUs, &f.space.Servers), "servers", "servers that they are on")
	c.Flags().Var(atLeast(1, &f.space.Gang), "gang", "the most GPUs, or workers, of a job (default all)")
	c.Flags().Var(atLeast(1, &f.space.Longest), "longest", "the longest running time in seconds (default 1000; 12 in slots)")
	c.Flags().Var(atLeast(1, &f.budget), "budget", "wall-clock time to search for (default 60s without --evaluations)")
	c.Flags().Var(atLeast(1, &f.evaluations), "evaluations", "instances to look at")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the search")
	c.Flags().VarP(between(1, maxWorkers, &f.workers), "workers", "j", "searches at a time (default one per core)")
	c.Flags().StringVar(&f.keep, "keep", "1", "part of the ratio that shrinking must keep, such as 0.95")
	c.Flags().StringVarP(&f.out, "out", "o", "", "JSON file for the instance; its proof goes beside it")
	c.Flags().StringVar(&f.resume, "resume", "", "file that holds the state of the search")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) hunt(ctx context.Context, f *huntFlags) error {
	kept, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	o, err := f.hunted(kept, a.debug)
	if err != nil {
		return err
	}
	if f.resume != "" {
		if o.Resume, err = readState(f.resume); err != nil {
			return err
		}
		o.Save = func(s *hunt.State) error {
			return a.writeFile(f.resume, func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
		}
	}
	start := time.Now()
	limited, watch, end := a.watched(ctx, f)
	o.Watch = watch
	r, err := hunt.Run(limited, o)
	end()
	further := "the same command begins anew; with --resume FILE it would go on"
	if f.resume != "" {
		further = "the same command goes on from " + f.resume
	}
	switch {
	case errors.Is(err, hunt.ErrOther):
		return usageError("%s: %w", f.resume, err)
	case errors.Is(err, bench.ErrPanicked):
		return &exitError{exitInternal, err}
	case errors.Is(err, bench.ErrNotStarted):
		return usageError("the program does not start: %w", err)
	case err != nil:
		return &exitError{exitInvalid, err}
	case r.Case != nil:
		err := a.printCase(f, r, time.Since(start))
		if ctx.Err() != nil && !r.Case.Violated() {
			return interrupted("the statement was not refuted by then", further)
		}
		return err
	case r.Found == nil && ctx.Err() != nil:
		return interrupted(fmt.Sprintf("none of %d instances could be evaluated by then", r.Evaluations), further)
	case r.Found == nil && r.Failure != nil:
		return usageError("none of %d instances could be evaluated: %w", r.Evaluations, r.Failure)
	case r.Found == nil:
		return &exitError{exitIncomplete, fmt.Errorf("none of %d instances could be evaluated: no optimum was proven, or nothing was looked at", r.Evaluations)}
	}
	if err := a.writeFound(f, r); err != nil {
		return err
	}
	a.printFound(f, r, time.Since(start))
	if ctx.Err() != nil {
		where := "above"
		if f.out != "" {
			where = "above and in " + f.out
		}
		return interrupted("the worst instance so far is "+where, further)
	}
	return nil
}

// watched begins the budget of a search and the line that shows how far it is; end ends both.
func (a *app) watched(ctx context.Context, f *huntFlags) (limited context.Context, watch func(hunt.Progress), end func()) {
	cancel := func() {}
	if limited = ctx; f.budget > 0 {
		limited, cancel = context.WithTimeout(ctx, f.budget)
	}
	start := time.Now()
	w := &huntWatch{budget: f.budget, evaluations: f.evaluations, conjecture: f.conjecture != ""}
	line := a.line(f.quiet)
	line.Begin(func(now time.Time) string { return w.text(limited, now.Sub(start)) })
	return limited, w.show, func() {
		line.End()
		cancel()
	}
}

// hunted are the options of what is hunted: a policy or a conjecture.
func (f *huntFlags) hunted(ctx context.Context, debugging bool) (hunt.Options, error) {
	if f.conjecture == "" {
		return f.options(ctx, debugging)
	}
	if f.policy != "" || f.command != "" || f.against != "" {
		return hunt.Options{}, usageError("--conjecture names its policies itself: drop --policy, --policy-command and --against")
	}
	return f.conjectured(debugging)
}

// options resolves the names that the flags give. A program is kept until the context ends.
func (f *huntFlags) options(ctx context.Context, debugging bool) (hunt.Options, error) {
	none := hunt.Options{}
	ref, err := f.ref("a-srpt-perfect")
	if err != nil {
		return none, err
	}
	resolve := catalogue.Resolve
	if ref.Name == catalogue.ExternalName {
		resolve = func(ref suite.MethodRef) (bench.Method, error) { return catalogue.KeptExternal(ctx, ref) }
	}
	method, err := resolve(ref)
	if err != nil {
		return none, usageError("%w", err)
	}
	if method.Kind() != bench.Online {
		return none, usageError("%s is not an online policy", ref)
	}
	if err := bench.Broken(method); err != nil {
		return none, usageError("%s: %w", ref, err)
	}
	o, err := f.common()
	if err != nil {
		return none, err
	}
	example, err := f.space.Example()
	if err != nil {
		return none, usageError("%w", err)
	}
	if err := bench.Suits(method, example); err != nil {
		return none, usageError("--policy %s --model %s: %w", ref, f.model, err)
	}
	o.Name, o.Policy = method.Ref().String(), replayed(method, o.Objective, debugging)
	if f.against == "" {
		return o, nil
	}
	rival, err := catalogue.Resolve(methodRef(f.against))
	if err != nil {
		return none, usageError("--against: %w", err)
	}
	if rival.Kind() != bench.Online || bench.Broken(rival) != nil {
		return none, usageError("--against %s is not an online policy that runs", f.against)
	}
	if err := bench.Suits(rival, example); err != nil {
		return none, usageError("--against %s --model %s: %w", f.against, f.model, err)
	}
	o.Against, o.Rival = replayed(rival, o.Objective, debugging), rival.Ref().String()
	return o, nil
}

// common are the options that have nothing to do with what is hunted.
func (f *huntFlags) common() (hunt.Options, error) {
	objective, err := parseObjective(f.objective)
	if err != nil {
		return hunt.Options{}, err
	}
	if objective.Maximised() {
		return hunt.Options{}, usageError("--objective: %v is maximised, and ratios here are of costs", objective)
	}
	keep, ok := new(big.Rat).SetString(f.keep)
	if !ok || keep.Sign() < 0 || keep.Cmp(big.NewRat(1, 1)) > 0 {
		return hunt.Options{}, usageError("--keep %s: it must be between 0 and 1", f.keep)
	}
	if f.budget == 0 && f.evaluations == 0 {
		f.budget = time.Minute
	}
	f.space.Model, f.space.Weighted = sched.Model(f.model), objective.Weighted()
	if err := f.space.Validate(); err != nil {
		return hunt.Options{}, usageError("%w", err)
	}
	if f.workers == 0 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	return hunt.Options{Space: f.space, Objective: objective, Seed: f.seed, Evaluations: f.evaluations, Workers: f.workers, Keep: keep}, nil
}

// replayed is a method as a hunt calls it, with the seed that a suite gives it on
// the instance that is found.
func replayed(m bench.Method, o sched.Objective, debugging bool) hunt.Policy {
	seed := datasets.Seed(1, huntedName, 0)
	return func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		out, err := bench.Attempt(ctx, m, bench.Problem{Instance: in, Objectives: []sched.Objective{o}, Seed: seed}, debugging)
		if err != nil {
			return nil, err
		}
		return out[0].Schedule, nil
	}
}

func readState(path string) (*hunt.State, error) {
	data, err := input.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usageError("%w", err)
	}
	s := &hunt.State{}
	if err := strictjson.Unmarshal(data, s); err != nil {
		return nil, usageError("%s is not the state of a hunt: %w", path, err)
	}
	return s, nil
}

// proofPath and certificatePath are where the proof of an instance is, and the
// certificate of its optimum.
func proofPath(path string) string { return strings.TrimSuffix(path, ".json") + ".proof.json" }
func certificatePath(path string) string {
	return strings.TrimSuffix(path, ".json") + ".certificate.json"
}

func (a *app) writeFound(f *huntFlags, r *hunt.Result) error {
	if f.out == "" {
		return nil
	}
	ref, err := f.ref("")
	if err != nil {
		return err
	}
	return a.writeProven(f.out, ref, r.Found, f.seed, r.Evaluations)
}

// writeProven writes an instance with its proof and its certificate.
func (a *app) writeProven(path string, policy suite.MethodRef, found *hunt.Found, seed uint64, evaluations int64) error {
	proof := found.Proof(policy.Name, policy.Params)
	proof.Seed, proof.Evaluations = seed, evaluations
	if err := a.writeFile(path, found.Instance.Write); err != nil {
		return err
	}
	if found.Certificate != nil {
		if err := a.writeFile(certificatePath(path), func(w io.Writer) error { _, err := w.Write(found.Certificate); return err }); err != nil {
			return err
		}
	}
	return a.writeFile(proofPath(path), proof.Write)
}

func (a *app) printFound(f *huntFlags, r *hunt.Result, took time.Duration) {
	found := r.Found
	ref, _ := f.ref("") // it was resolved before
	fmt.Fprintf(a.out, "policy       %s, class %s, %s\n", ref, found.Policy.Class(), found.Objective)
	a.printRatio(found)
	fmt.Fprintf(a.out, "instance     %s on %s: %s\n", output.Count(len(found.Instance.Jobs), "job"), output.Count(found.Instance.Cluster.GPUs(), "GPU"), hunt.Words(found.Instance))
	fmt.Fprintf(a.out, "evaluations  %d in %v (%.0f a second), seed %d; ratio before shrinking %s\n", r.Evaluations, took.Round(10*time.Millisecond),
		float64(r.Evaluations)/took.Seconds(), f.seed, found.Before.FloatString(6))
	if f.out != "" {
		if found.Compared {
			fmt.Fprintf(a.out, "written      %s, %s: bench verify checks both schedules\n", f.out, proofPath(f.out))
			return
		}
		fmt.Fprintf(a.out, "written      %s, %s; a suite that runs it again:\n\n%s", f.out, proofPath(f.out), huntSuite(f.out, ref, found))
	}
}

// printRatio says how bad a policy is, and what that is over.
func (a *app) printRatio(found *hunt.Found) {
	if found.Compared {
		fmt.Fprintf(a.out, "ratio        %s = %s, of two verified schedules\ncost         %s\nagainst      %s (class %v, by %s)\n", found.Ratio().RatString(), found.Ratio().FloatString(6),
			costText(found.Objective, found.Cost), costText(found.Objective, found.Optimum), found.Class, found.Method)
		return
	}
	status := "proven"
	if found.Certificate != nil {
		status = "certified"
	}
	fmt.Fprintf(a.out, "ratio        %s = %s, proven\ncost         %s\noptimum      %s (class %v, by %s, %s)\n", found.Ratio().RatString(), found.Ratio().FloatString(6),
		costText(found.Objective, found.Cost), costText(found.Objective, found.Optimum), found.Class, found.Method, status)
}

// huntSuite is a suite of the instance, its policy and what proves its optimum.
func huntSuite(path string, policy suite.MethodRef, found *hunt.Found) string {
	return fmt.Sprintf("name: hunted\ninstances:\n  - {name: %s, file: %s}\nobjectives: [%s]\nmethods: [%s]\nreferences: [%s]\n",
		huntedName, path, found.Objective, yamlRef(policy), yamlRef(methodRef(found.Method)))
}

// methodRef reads a name with parameters as MethodRef.String writes it.
func methodRef(text string) suite.MethodRef {
	name, rest, _ := strings.Cut(text, "(")
	ref := suite.MethodRef{Name: name, Params: map[string]string{}}
	for _, p := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		if k, v, ok := strings.Cut(p, "="); ok {
			ref.Params[k] = v
		}
	}
	return ref
}

// yamlRef writes a reference as suites do.
func yamlRef(ref suite.MethodRef) string {
	if len(ref.Params) == 0 {
		return ref.Name
	}
	var params []string
	for k, v := range ref.Params {
		params = append(params, fmt.Sprintf("%s: %q", k, v))
	}
	slices.Sort(params)
	return fmt.Sprintf("{name: %s, params: {%s}}", ref.Name, strings.Join(params, ", "))
}

// huntWatch says how a hunt advances.
type huntWatch struct {
	budget      time.Duration
	evaluations int64
	conjecture  bool

	mu   sync.Mutex
	last hunt.Progress
}

func (w *huntWatch) show(p hunt.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = p
}

// text is the line at some time after the start. After the search, which ctx ends, the
// worst instance is still to be shrunk and its optimum to be proven.
func (w *huntWatch) text(ctx context.Context, took time.Duration) string {
	w.mu.Lock()
	p := w.last
	w.mu.Unlock()
	if ctx.Err() != nil || w.evaluations > 0 && p.Evaluations >= w.evaluations {
		return fmt.Sprintf("%d evaluations, shrinking and proving the worst", p.Evaluations)
	}
	return w.line(took, p)
}

// line is "12345 evaluations (2100/s), worst ratio 3.9312, ETA 40s".
func (w *huntWatch) line(took time.Duration, p hunt.Progress) string {
	rate := float64(p.Evaluations) / max(took.Seconds(), 1e-3)
	line := fmt.Sprintf("%d evaluations (%.0f/s)", p.Evaluations, rate)
	switch {
	case p.Best != nil && w.conjecture:
		line += ", largest excess " + new(big.Rat).Sub(p.Best, big.NewRat(1, 1)).FloatString(4)
	case p.Best != nil:
		line += ", worst ratio " + p.Best.FloatString(4)
	}
	left := time.Duration(-1)
	if w.budget > 0 {
		left = max(w.budget-took, 0)
	}
	if w.evaluations > 0 && rate > 0 {
		byCount := time.Duration(float64(w.evaluations-p.Evaluations) / rate * float64(time.Second))
		if left < 0 || byCount < left {
			left = byCount
		}
	}
	return fmt.Sprintf("%s, ETA %v", line, left.Round(time.Second))
}
