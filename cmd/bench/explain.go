package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench/catalogue"
	"yardstick/bench/explain"
	"yardstick/bench/record"
	"yardstick/bench/score"
	"yardstick/bench/suite"
	"yardstick/bench/tables"
	"yardstick/internal/input"
	"yardstick/sched"
	"yardstick/sched/verify"
)

type explainFlags struct {
	method, instance string
	objective        string
	chosen           bool // the objective was given
	against          string
	format, out      string
	part             string
	gantt            string
	top              int
	shrink, keep     string
	timeLimit        time.Duration
}

// explainParts are what bench explain prints.
var explainParts = []string{"summary", "jobs", "gangs", "users", "hours", "delays", "gantt"}

func (a *app) explainCommand() *cobra.Command {
	f := explainFlags{timeLimit: time.Minute}
	c := &cobra.Command{
		Use:   "explain DIR|SCORE",
		Short: "Where the difference between a schedule and a better one comes from",
		Long: `Says which jobs, gang sizes, users and hours of release account for the difference
between what a schedule costs and what a reference costs, which jobs started latest
compared with the reference, and who held the GPUs that they lacked. What jobs add is
exact, and adds up to the difference.

DIR is a result directory of bench run, of which --method names the schedule. The
reference is the best schedule of the result on the same instance whose class may be
compared. SCORE is a file of bench score --save, which holds one schedule alone:
--against names its reference.

--against takes a method of the result, a schedule (JSON) as bench solve and bench
simulate write it, another file of bench score --save of the same jobs, or any
method of bench, which is then run.

--shrink looks for the fewest jobs on which the policy loses as much compared with a
proven optimum, and writes them as bench hunt does. docs/explain.md defines all
numbers.`,
		Example: `  bench explain results/quick --method sjf
  bench explain results/quick --method sjf --against fifo --part delays --format csv
  bench score jobs.csv result.csv --gpus 64 --save result.json && bench explain result.json --against sjf`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.chosen = c.Flags().Changed("objective")
			return a.explain(c.Context(), &f, args[0])
		},
	}
	c.Flags().StringVar(&f.method, "method", "", "of a result directory: the method whose schedule is explained")
	c.Flags().StringVar(&f.instance, "instance", "", "of a result directory: the instance (default the one on which the method is worst, compared with the best known)")
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what is compared; where a result has others alone, its first")
	c.Flags().StringVar(&f.against, "against", "", "the reference: a method or a file (default the best schedule of the result)")
	c.Flags().StringVar(&f.format, "format", "table", listingFormats)
	c.Flags().StringVarP(&f.out, "out", "o", "", "file to write instead of the terminal")
	c.Flags().StringVar(&f.part, "part", "", "one of "+strings.Join(explainParts, ", ")+" (default all)")
	c.Flags().StringVar(&f.gantt, "gantt", "", "SVG file for a Gantt chart of both schedules")
	c.Flags().Var(atLeast(1, &f.top), "top", "how many jobs, groups and delays to list (default 10, and in csv and json all jobs and groups)")
	c.Flags().StringVar(&f.shrink, "shrink", "", "JSON file for the fewest jobs that show the loss")
	c.Flags().StringVar(&f.keep, "keep", "1", "the part of the ratio that --shrink must keep")
	c.Flags().Var(atLeast(0, &f.timeLimit), "time-limit", "wall-clock limit of a method that is run as the reference; 0 for none")
	return c
}

// side is a schedule of the jobs that are explained.
type side struct {
	name    string
	class   sched.Class
	optimal string // what has just proven that no schedule of the class explained is better; or ""
	explain.Schedule
}

// subject is what is explained, and what may be its reference.
type subject struct {
	path      string
	objective sched.Objective
	deadline  sched.Time
	gpus      int64 // thousandths
	jobs      []explain.Job
	this      side
	// instances are what references are made on: a policy runs on the first that it suits. The
	// jobs of all are those above.
	instances []*sched.Instance
	noPolicy  error // why there are none
	// What a result says of the schedule; nil of a score.
	row       *record.Ratio
	others    []*record.Ratio // with a schedule of the same instance and objective
	scheduled func(*record.Ratio) (*verify.Verified, error)
}

func (a *app) explain(ctx context.Context, f *explainFlags, path string) error {
	if checkListingFormat(f.format) != nil {
		return usageError("--format %q: it must be %s", f.format, listingFormats)
	}
	if f.part != "" && !slices.Contains(explainParts, f.part) {
		return usageError("--part %q: it must be one of %s", f.part, strings.Join(explainParts, ", "))
	}
	var s *subject
	var err error
	if isFolder([]string{path}) {
		s, err = f.ofResult(path)
	} else {
		s, err = f.ofScore(path)
	}
	if err != nil {
		return err
	}
	reference, err := a.reference(ctx, f, s)
	if err != nil {
		return err
	}
	if err := explain.Comparable(s.this.class.String(), reference.class.String()); err != nil {
		return usageError("%s: %w", reference.name, err)
	}
	places, err := explain.Places(s.gpus, s.this.class.String(), reference.class.String())
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	e, err := explain.New(explain.Input{Objective: s.objective.String(), Deadline: int64(s.deadline), GPUs: places, Jobs: s.jobs, This: s.this.Schedule, Reference: reference.Schedule})
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	x := &explained{Explanation: e, subject: s, reference: reference, flags: f}
	var loses *losing
	if f.shrink != "" {
		if loses, err = x.losing(); err != nil {
			return err
		}
	}
	if f.gantt != "" {
		if err := a.writeCompared(x); err != nil {
			return err
		}
	}
	if f.out == "" {
		err = x.write(a.out)
	} else {
		var b bytes.Buffer
		if err = x.write(&b); err == nil {
			err = a.writeFile(f.out, func(w io.Writer) error { _, err := b.WriteTo(w); return err })
		}
	}
	if err != nil || loses == nil {
		return err
	}
	return a.shrinkExplained(ctx, x, loses)
}

// ofResult finds the schedule in a result directory.
func (f *explainFlags) ofResult(dir string) (*subject, error) {
	run, err := record.Open(dir)
	if err != nil {
		return nil, usageError("%w", err)
	}
	s := &subject{path: dir}
	if s.row, err = f.chosenRow(run); err != nil {
		return nil, err
	}
	if err := s.objective.UnmarshalText([]byte(s.row.Objective)); err != nil {
		return nil, usageError("%s: %w", dir, err)
	}
	in, err := extract(dir, s.row.Instance)
	if err != nil {
		return nil, err
	}
	segments := map[string][]*record.Segment{}
	key := func(cell string, schedule int) string { return fmt.Sprint(cell, " ", schedule) }
	for i := range run.Ratios {
		if r := &run.Ratios[i]; r.Schedule.Valid && r.Instance == s.row.Instance && r.Objective == s.row.Objective {
			segments[key(r.CellID, r.Schedule.V)] = []*record.Segment{}
			if r != s.row {
				s.others = append(s.others, r)
			}
		}
	}
	for i := range run.Segments {
		row := &run.Segments[i]
		if list, wanted := segments[key(row.CellID, row.Schedule)]; wanted {
			segments[key(row.CellID, row.Schedule)] = append(list, row)
		}
	}
	s.scheduled = func(r *record.Ratio) (*verify.Verified, error) {
		schedule, err := tables.Schedule(r.Class, segments[key(r.CellID, r.Schedule.V)])
		var v *verify.Verified
		if err == nil {
			v, err = verify.Check(in, schedule)
		}
		if err != nil {
			return nil, &exitError{exitInvalid, fmt.Errorf("%s: the schedule of %s on %s does not hold: %s", dir, r.Method, r.Instance, strings.ReplaceAll(err.Error(), "\n", "; "))}
		}
		return v, nil
	}
	v, err := s.scheduled(s.row)
	if err != nil {
		return nil, err
	}
	s.of(in)
	s.this = sideOf(s.row.Method, v)
	return s, nil
}

// chosenRow is the row of the method, on the instance on which it is worst unless one is named.
func (f *explainFlags) chosenRow(run *record.Run) (*record.Ratio, error) {
	if f.method == "" {
		return nil, usageError("whose schedule? give --method: %s has %s", run.Dir, strings.Join(methodsIn(run), ", "))
	}
	if !f.chosen && len(run.Ratios) > 0 && !slices.ContainsFunc(run.Ratios, func(r record.Ratio) bool { return r.Objective == f.objective }) {
		f.objective = run.Ratios[0].Objective
	}
	method, err := methodOf(f.method, methodsIn(run))
	if err != nil {
		return nil, usageError("%s: %w", run.Dir, err)
	}
	var best *record.Ratio
	var names []string
	for i := range run.Ratios {
		r := &run.Ratios[i]
		if r.Method != method {
			continue
		}
		if r.Objective != f.objective || f.instance != "" && r.Instance != f.instance || !r.Cost.Valid || !r.Schedule.Valid {
			names = append(names, fmt.Sprintf("%s (%s)", r.Instance, r.Objective))
			continue
		}
		if best == nil || loss(r) > loss(best) {
			best = r
		}
	}
	if best == nil {
		return nil, usageError("%s has no schedule of %s for %s on %q: it has rows for %s", run.Dir, method, f.objective, cmp.Or(f.instance, "any instance"), strings.Join(names[:min(3, len(names))], ", "))
	}
	return best, nil
}

// methodOf finds a method by its full name, by its name with some parameters, the others
// being the defaults, or by its name if there is one alone.
func methodOf(text string, list []string) (string, error) {
	if slices.Contains(list, text) {
		return text, nil
	}
	ref := methodRef(text)
	if m, err := catalogue.Resolve(ref); err == nil && slices.Contains(list, m.Ref().String()) {
		return m.Ref().String(), nil
	}
	same := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return methodRef(name).Name != ref.Name })
	switch {
	case len(same) == 1 && len(ref.Params) == 0:
		return same[0], nil
	case len(same) > 0:
		return "", fmt.Errorf("there is no method %q, but %s", text, strings.Join(same, ", "))
	}
	return "", fmt.Errorf("there is no method %q: there are %s", text, strings.Join(list, ", "))
}

// loss is how bad a schedule is, to choose the worst.
func loss(r *record.Ratio) float64 { return r.RatioToBestKnown.V }

// methodsIn lists the methods of a result that have schedules.
func methodsIn(run *record.Run) (names []string) {
	for i := range run.Ratios {
		if r := &run.Ratios[i]; r.Schedule.Valid && !slices.Contains(names, r.Method) {
			names = append(names, r.Method)
		}
	}
	return names
}

// ofScore reads the schedule of a score.
func (f *explainFlags) ofScore(path string) (*subject, error) {
	switch {
	case f.method != "" || f.instance != "":
		return nil, usageError("--method and --instance go with a result directory: %s is a file", path)
	case f.shrink != "":
		return nil, usageError("--shrink needs a policy that can be run again on fewer jobs, and what made %s cannot: give a result directory and one of its policies", path)
	}
	saved, err := readScore(path)
	if err != nil {
		return nil, err
	}
	s := &subject{path: path}
	if err := s.objective.UnmarshalText([]byte(f.objective)); err != nil {
		return nil, usageError("--objective: %w", err)
	}
	name := cmp.Or(saved.Name, path)
	if v := saved.Verified; v != nil {
		s.of(v.Instance())
		s.this = sideOf(name, v)
		return s, nil
	}
	c := saved.Checked
	s.gpus = c.Cluster.GPUs
	s.this = side{name: name, class: c.Class, Schedule: scheduleOf(c)}
	s.jobs = jobsOf(c)
	pool, err := c.Pooled()
	if err != nil {
		s.noPolicy = err
	} else {
		s.instances = []*sched.Instance{pool.Instance, pool.Rigid}
	}
	return s, nil
}

// readScore reads a file of bench score --save.
func readScore(path string) (*score.Saved, error) {
	text, err := input.Read(path)
	if err != nil {
		return nil, usageError("%w", err)
	}
	saved, err := score.ReadSaved(text)
	if err != nil {
		return nil, usageError("%s is no file of bench score --save, and no result directory: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return saved, nil
}

// of takes jobs and cluster from an instance.
func (s *subject) of(in *sched.Instance) {
	s.instances, s.deadline = []*sched.Instance{in}, in.Deadline
	s.gpus = int64(in.Cluster.GPUs()) * explain.Milli
	for i := range in.Jobs {
		j := &in.Jobs[i]
		s.jobs = append(s.jobs, explain.Job{Name: j.Name, User: j.User, Release: int64(j.Release), GPUs: int64(j.Gang()) * explain.Milli, Weight: j.Weight})
	}
}

// sideOf is a verified schedule.
func sideOf(name string, v *verify.Verified) side {
	s := side{name: name, class: v.Class(), Schedule: explain.Schedule{Pieces: []explain.Piece{}}}
	for j := range v.Instance().Jobs {
		end, done := v.Completion(sched.JobID(j))
		if !done {
			end = -1
		}
		s.Ends = append(s.Ends, int64(end))
	}
	for i := range v.Schedule().Segments {
		g := &v.Schedule().Segments[i]
		s.Pieces = append(s.Pieces, explain.Piece{Job: int(g.Job), Start: int64(g.Start), End: int64(g.End), GPUs: int64(g.Place.GPUs()) * explain.Milli})
	}
	return s
}

// clockOf is the time of a record from which its times count here, as those of a pooled
// instance do.
func clockOf(c *score.Checked) (origin sched.Time) {
	for i := range c.Jobs {
		origin = min(origin, c.Jobs[i].Release)
	}
	return origin
}

// scheduleOf is a record that was scored.
func scheduleOf(c *score.Checked) explain.Schedule {
	origin, s := clockOf(c), explain.Schedule{}
	for _, end := range c.Ends {
		s.Ends = append(s.Ends, int64(end-origin))
	}
	if c.Evidence == score.Completions {
		return s
	}
	for i := range c.Pieces {
		p := &c.Pieces[i]
		s.Pieces = append(s.Pieces, explain.Piece{Job: p.Job, Start: int64(p.Start - origin), End: int64(p.End - origin), GPUs: p.GPUs})
	}
	return s
}

// jobsOf are the jobs of a record that was scored.
func jobsOf(c *score.Checked) (list []explain.Job) {
	origin := clockOf(c)
	for i := range c.Jobs {
		j := &c.Jobs[i]
		list = append(list, explain.Job{Name: j.Name, User: j.User, Release: int64(j.Release - origin), GPUs: j.GPUs, Weight: j.Weight})
	}
	return list
}
