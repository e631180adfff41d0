package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/bounds/proof/treecheck"
	"yardstick/bounds/proof/veripb"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

type proveFlags struct {
	objective, schedule, format, bound, out string
	nodes                                   int
	limits                                  suite.Limits
	quiet                                   bool
}

// proofFormat is a way to write a proof down. prove returns what it proved, which may be a
// better schedule than the claim's.
type proofFormat struct {
	name  string
	prove func(ctx context.Context, p *proof.Problem, claim proof.Claim, nodes int) (proof.Claim, proof.Section, error)
}

// proofFormats lists them in the order in which they are tried: each goes on with what
// the one before it found.
func proofFormats() []proofFormat {
	return []proofFormat{{"tree", proveTree}, {"veripb", proveVeriPB}}
}

// proveVeriPB goes on with each cheaper schedule that it finds. Of more jobs than a tree
// has, and where the tree has no end within its nodes, it proves the best bound of prices
// alone.
func proveVeriPB(ctx context.Context, p *proof.Problem, claim proof.Claim, nodes int) (proof.Claim, proof.Section, error) {
	bound := func() (proof.Claim, proof.Section, error) {
		value, made, err := veripb.Best(ctx, p, claim.Starts)
		if err != nil {
			return proof.Claim{}, proof.Section{}, err
		}
		return proof.Claim{Value: value}, made.Section(), nil
	}
	if claim.Starts != nil && len(p.Jobs) > veripb.MaxTreeJobs {
		return bound()
	}
	for {
		made, err := veripb.Prove(ctx, p, claim, veripb.Options{Nodes: nodes})
		var cheaper *proof.CheaperError
		switch {
		case errors.As(err, &cheaper) && claim.Starts != nil:
			claim = proof.Claim{Value: cheaper.Cost, Starts: cheaper.Starts}
		case errors.Is(err, proof.ErrLimit) && claim.Starts != nil && ctx.Err() == nil:
			return bound()
		case err != nil:
			return proof.Claim{}, proof.Section{}, err
		default:
			return claim, made.Section(), nil
		}
	}
}

func proveTree(ctx context.Context, p *proof.Problem, claim proof.Claim, nodes int) (proof.Claim, proof.Section, error) {
	c, err := tree.Prove(ctx, p, claim, tree.Limits{Nodes: nodes})
	if err != nil {
		return proof.Claim{}, proof.Section{}, err
	}
	if _, err := treecheck.Check(p.Text(), c.Text); err != nil {
		return proof.Claim{}, proof.Section{}, &exitError{exitInvalid, fmt.Errorf("the proof just made is refused: %w: please report this, with the instance", err)}
	}
	return c.Claim, c.Section(), nil
}

func (a *app) proveCommand() *cobra.Command {
	f := proveFlags{limits: suite.Limits{Solve: time.Minute, Memory: 4 << 30}}
	var names []string
	for _, format := range proofFormats() {
		names = append(names, format.name)
	}
	c := &cobra.Command{
		Use:   "prove INSTANCE -o DIR",
		Short: "Prove an optimum or a bound so that strangers can check it without this program",
		Long: `Proves that no schedule of the instance (JSON) costs less than the best one, and writes
a folder that anybody can check with Python alone: the problem in integers, the
certificate, a checker of 200 lines to be read, and a README with the commands, the
lemmas in full and what has to be believed. docs/proofs.md has the whole of it.

With --format veripb, for instances in slots or other whole units: a pseudo-Boolean
program, and a proof that the checker VeriPB accepts, which is not ours; of more than
64 jobs, and where a tree has no end within --nodes, a bound. With all, both.

The best schedule is that of --schedule or else of the method that bench solve takes,
within --time-limit. It need not be optimal: where the search for a proof finds a
better one, it goes on with that. With --bound, only that nothing is below that value
is proven: in seconds, or seconds times weight, as bench solve prints it.

Jobs are gangs that hold their GPUs without a break (class N, or Ns in slots), and the
GPUs one pool. Where running times depend on the placement, the least ones are taken;
if the best schedule known costs more than that, the tree goes over servers, and its
checker is check_servers.py. Where that has no proof, what is proven is a bound.

Exit codes: 0 if the proof is written; 2 for bad flags or instances, where no such
proof applies, and if a schedule is below --bound; 3 if there is no proof within the
limits; 5 if something is found to be wrong; 130 interrupted.`,
		Example: `  bench prove instance.json -o proof
  python3 proof/check_tree.py proof/instance.txt proof/optimum.cert
  bench verify proof
  bench prove instance.json --objective makespan --bound 3600 -o bound`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.prove(c.Context(), &f, args[0]) },
	}
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what is best: totals of completion times, or makespan")
	c.Flags().StringVar(&f.schedule, "schedule", "", "JSON file with a schedule to begin with (default: that of bench solve)")
	c.Flags().StringVar(&f.format, "format", names[0], strings.Join(names, ", ")+" or all")
	c.Flags().StringVar(&f.bound, "bound", "", "prove that nothing is below this value, in seconds or as a fraction, and no optimum")
	c.Flags().StringVarP(&f.out, "out", "o", "", "folder to write: a new or empty one, or one with a proof, which is replaced")
	c.Flags().Var(atLeast(0, &f.nodes), "nodes", "nodes that a tree may have; 0 for any number (default 5000000)")
	f.nodes = 5_000_000
	c.Flags().Var(atLeast(0, &f.limits.Solve), "time-limit", "wall-clock limit of the search for a schedule; 0 for none")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) prove(ctx context.Context, f *proveFlags, path string) error {
	objective, err := parseObjective(f.objective)
	if err != nil {
		return err
	}
	formats := proofFormats()
	if f.format != "all" {
		formats = slices.DeleteFunc(formats, func(known proofFormat) bool { return known.name != f.format })
	}
	if len(formats) == 0 {
		return usageError("--format: %q is unknown: see bench prove --help", f.format)
	}
	if f.out == "" {
		return usageError("-o is missing: name the folder that the proof goes to")
	}
	if list, err := os.ReadDir(f.out); err == nil && len(list) > 0 && !isProof(f.out) {
		return usageError("-o: %s has files already: name another folder, or empty it", f.out)
	}
	in, err := readInstance(path)
	if err != nil {
		return err
	}
	p, err := proof.New(in, objective, in.Class())
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	claim, best, err := a.toProve(ctx, f, in, p)
	if err != nil {
		return err
	}
	var sections []proof.Section
	for _, format := range formats {
		line, start := a.line(f.quiet), time.Now()
		line.Begin(func(now time.Time) string {
			return fmt.Sprintf("proof by %s, %v", format.name, now.Sub(start).Round(time.Second))
		})
		made, section, err := format.prove(ctx, p, claim, f.nodes)
		line.End()
		if err != nil {
			return a.noProof(ctx, p, path, err)
		}
		section.Claim = made
		sections = append(sections, section)
		// A bound is all that this format reached. What one before it proved stays.
		if made.Starts != nil || len(sections) == 1 {
			claim = made
		} else if claim.Starts == nil && made.Value.Cmp(claim.Value) > 0 {
			claim = made
		}
	}
	if p.Placed && best != nil && f.format == tree.Format && p.Value(claim.Value).Cmp(best.Cost(objective)) < 0 {
		switch made, err := a.proveOnServers(ctx, f, in, objective, best); {
		case err == nil:
			p, claim, sections = made.Problem, made.Claim, []proof.Section{made.Section()}
		case !errors.Is(err, sched.ErrNotApplicable) && !errors.Is(err, proof.ErrLimit):
			return a.noProof(ctx, p, path, err)
		default:
			fmt.Fprintf(a.err, "bench: on servers: %v: the proof is one of a bound\n", err)
		}
	}
	value := p.Value(claim.Value)
	// What is left to be shown where placements matter is a schedule on servers.
	reached := claim.Starts != nil && (!p.Placed || best != nil && best.Cost(objective).Cmp(value) == 0)
	files := proof.Folder(in, p, claim, reached, sections...)
	schedule := filepath.Join(f.out, "schedule.json")
	if err := os.Remove(schedule); err != nil && !errors.Is(err, os.ErrNotExist) { // of a proof that was here
		return usageError("%w", err)
	}
	if err := a.writeProof(f.out, files); err != nil {
		return err
	}
	if best != nil && best.Cost(objective).Cmp(value) == 0 {
		if err := a.writeSchedule(schedule, best); err != nil {
			return err
		}
	}
	what := "no schedule of class %s has a %s below %s\n"
	if reached {
		what = "the optimum of class %s: %s %s\n"
	}
	fmt.Fprintf(a.out, what, p.Class, objective, costText(objective, value))
	if claim.Starts != nil && !reached {
		fmt.Fprintf(a.out, "that is the optimum on one pool of GPUs with least running times: no schedule on servers is known that has it\n")
	}
	for i, s := range sections {
		if s.Claim.Value.Cmp(claim.Value) < 0 {
			fmt.Fprintf(a.out, "the proof by %s is one of a bound: no schedule has a %s below %s\n", formats[i].name, objective, costText(objective, p.Value(s.Claim.Value)))
		}
	}
	fmt.Fprintf(a.out, "%s says how anybody checks it\n", filepath.Join(f.out, proof.ReadmeName))
	return nil
}

// proveOnServers proves the optimum on servers, where the pool has a lower one.
func (a *app) proveOnServers(ctx context.Context, f *proveFlags, in *sched.Instance, objective sched.Objective, best *verify.Verified) (*tree.Certificate, error) {
	line, start := a.line(f.quiet), time.Now()
	line.Begin(func(now time.Time) string {
		return fmt.Sprintf("proof on servers, %v", now.Sub(start).Round(time.Second))
	})
	defer line.End()
	made, err := tree.OnServers(ctx, in, objective, best.Schedule(), tree.Limits{Nodes: f.nodes})
	if err != nil {
		return nil, err
	}
	if _, err := treecheck.Check(made.Problem.Text(), made.Text); err != nil {
		return nil, &exitError{exitInvalid, fmt.Errorf("the proof just made is refused: %w: please report this, with the instance", err)}
	}
	return made, nil
}

// toProve returns what is to be proven, and the best schedule known, if any.
func (a *app) toProve(ctx context.Context, f *proveFlags, in *sched.Instance, p *proof.Problem) (claim proof.Claim, best *verify.Verified, err error) {
	if f.bound != "" {
		v, ok := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimSuffix(f.bound, "s"), " "))
		if !ok || len(f.bound) > 100 || v.Sign() < 0 || strings.ContainsAny(f.bound, "eEpP") {
			return claim, nil, usageError("--bound: %q is no number of seconds, such as 1234.5", f.bound)
		}
		claim.Value = p.Cost(v.Mul(v, new(big.Rat).SetInt64(int64(sched.Second))))
		if claim.Value.Sign() <= 0 {
			return claim, nil, usageError("--bound: every schedule is above %s: give a larger value", f.bound)
		}
		return claim, nil, nil
	}
	if f.schedule != "" {
		best, err = a.readVerified(in, f.schedule)
	} else {
		best, err = a.bestSchedule(ctx, f, in, p)
	}
	if err != nil {
		return claim, nil, err
	}
	if !best.Class().Reaches(p.Class) {
		return claim, nil, usageError("--schedule: %s is of class %v, and the proof about class %v", f.schedule, best.Class(), p.Class)
	}
	if claim.Starts, err = p.Starts(best.Schedule()); err != nil {
		return claim, nil, usageError("%w", err)
	}
	claim.Value, err = p.Evaluate(claim.Starts)
	return claim, best, err
}

// readVerified reads a schedule that must be one of the instance.
func (a *app) readVerified(in *sched.Instance, path string) (*verify.Verified, error) {
	file, err := input.Document(path)
	if err != nil {
		return nil, usageError("%w", err)
	}
	defer file.Close()
	s, hash, err := sched.ReadSchedule(file)
	if err != nil {
		return nil, usageError("%s: %w", path, err)
	}
	if hash != "" && hash != in.Hash() {
		return nil, usageError("%s was made for another instance", path)
	}
	v, err := verify.Check(in, s)
	if err != nil {
		return nil, usageError("%s: %s", path, oneLine(err.Error()))
	}
	return v, nil
}

// bestSchedule returns what bench solve finds within the time limit.
func (a *app) bestSchedule(ctx context.Context, f *proveFlags, in *sched.Instance, p *proof.Problem) (*verify.Verified, error) {
	f.limits.Cell = f.limits.Solve
	var reasons []string
	for _, name := range catalogue.ExactNames(in.Model) {
		method, err := catalogue.Resolve(catalogue.Proving(name, p.Class))
		if err != nil {
			return nil, usageError("%w", err)
		}
		r, err := a.runMethod(ctx, method, in, p.Objective, f.limits, f.quiet)
		switch {
		case err != nil:
			return nil, err
		case r.outcome.Termination == milp.Skipped:
			reasons = append(reasons, r.outcome.Message)
		case r.verified != nil:
			return r.verified, nil
		}
	}
	return nil, usageError("bench solve finds no schedule to begin with: give one by --schedule, or a value by --bound: %s", strings.Join(reasons, "; "))
}

// noProof says why there is none.
func (a *app) noProof(ctx context.Context, p *proof.Problem, path string, err error) error {
	var cheaper *proof.CheaperError
	switch {
	case errors.As(err, &cheaper):
		return usageError("--bound: a schedule has %s, which is below it: give a lower value", costText(p.Objective, p.Value(cheaper.Cost)))
	case errors.Is(err, proof.ErrLimit):
		return &exitError{exitIncomplete, fmt.Errorf("%s: %w: raise --nodes, or prove a lower --bound", path, err)}
	case errors.Is(err, sched.ErrNotApplicable):
		return usageError("%s: %w", path, err)
	case ctx.Err() != nil:
		return interrupted("no proof was finished", "the same command begins anew")
	}
	return err
}

// writeProof writes the files of a folder.
func (a *app) writeProof(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usageError("%w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := a.writeFile(filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(files[name]); return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// isProof reports whether a folder holds a proof.
func isProof(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, proof.ProblemName))
	return err == nil
}

// verifyProofFolder checks every proof of a folder, and that they are about the instance
// if one is given.
func (a *app) verifyProofFolder(ctx context.Context, dir, instancePath string) error {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if has(veripb.ModelName) {
		if err := a.verifyVeriPB(ctx, dir, instancePath); err != nil {
			return err
		}
	}
	if has(tree.CertificateName) || !has(veripb.ModelName) {
		return a.verifyTree(dir, instancePath)
	}
	return nil
}

// verifyVeriPB makes the program of a folder anew, and has VeriPB check its proof.
func (a *app) verifyVeriPB(ctx context.Context, dir, instancePath string) error {
	path := func(name string) string { return filepath.Join(dir, name) }
	problem, err := input.Read(path(proof.ProblemName))
	if err != nil {
		return usageError("%w", err)
	}
	model, err := input.Read(path(veripb.ModelName))
	if err != nil {
		return usageError("%w", err)
	}
	fails := func(err error) error {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %w", dir, err)}
	}
	v, err := veripb.Verify(ctx, problem, model, path(veripb.ModelName), path(veripb.ProofName))
	var refused *veripb.RefusedError
	switch {
	case errors.As(err, &refused):
		return fails(err)
	case errors.Is(err, veripb.ErrNotInstalled):
		return &exitError{exitInternal, fmt.Errorf("%s: %w", path(veripb.ProofName), err)}
	case err != nil:
		return err
	}
	fmt.Fprintf(a.out, "%s holds: VeriPB accepts the proof, and the program is that of %s\n", dir, proof.ProblemName)
	fmt.Fprintf(a.out, "no schedule of %s costs less than %v\n", proof.ProblemName, v.Lower)
	if v.Upper != nil {
		fmt.Fprintf(a.out, "one costs %v\n", v.Upper)
	}
	if instancePath == "" {
		return nil
	}
	about := map[string]string{}
	for line := range strings.Lines(string(problem)) {
		if key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), " "); found {
			about[key] = value
		}
	}
	return a.compareProblem(instancePath, dir, &treecheck.Statement{Value: v.Lower, About: about})
}

// verifyTree checks the tree of a folder, and that it is about the instance if one is
// given.
func (a *app) verifyTree(dir, instancePath string) error {
	problem, err := input.Read(filepath.Join(dir, proof.ProblemName))
	if err != nil {
		return usageError("%w", err)
	}
	certificate, err := input.Read(filepath.Join(dir, tree.CertificateName))
	if err != nil {
		return usageError("%w", err)
	}
	s, err := treecheck.Check(problem, certificate)
	if err != nil {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold: %w", dir, err)}
	}
	fmt.Fprintf(a.out, "%s holds: a tree of %d nodes\n", dir, s.Nodes)
	about := func(key string) string { return output.Name(s.About[key]) }
	fmt.Fprintf(a.out, "no schedule of %s costs less than %v\n", proof.ProblemName, s.Value)
	if s.Optimum {
		fmt.Fprintf(a.out, "one costs as much: it is the optimum\n")
	}
	if instancePath == "" {
		fmt.Fprintf(a.out, "it says that it is of the instance of sha256 %.64s, %s of class %s: bench verify INSTANCE %s compares them\n", about("instance"), about("objective"), about("class"), dir)
		return nil
	}
	return a.compareProblem(instancePath, dir, s)
}

// compareProblem makes the problem of an instance anew.
func (a *app) compareProblem(instancePath, dir string, s *treecheck.Statement) error {
	in, err := readInstance(instancePath)
	if err != nil {
		return err
	}
	var objective sched.Objective
	var class sched.Class
	fails := func(err error) error {
		return &exitError{exitInvalid, fmt.Errorf("%s does not hold for %s: %w", dir, instancePath, err)}
	}
	if err := errors.Join(objective.UnmarshalText([]byte(s.About["objective"])), class.UnmarshalText([]byte(s.About["class"]))); err != nil {
		return fails(errors.New(oneLine(err.Error())))
	}
	problem, err := input.Read(filepath.Join(dir, proof.ProblemName))
	if err != nil {
		return usageError("%w", err)
	}
	p, err := proof.FromText(problem, in, objective, class)
	if err != nil {
		return fails(err)
	}
	if string(p.Text()) != string(problem) {
		return fails(fmt.Errorf("%s is not what follows from the instance", proof.ProblemName))
	}
	fmt.Fprintf(a.out, "%s follows from %s: no schedule of class %v has a %v below %s\n", proof.ProblemName, instancePath, class, objective, costText(objective, p.Value(s.Value)))
	return nil
}
