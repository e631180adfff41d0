package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/score"
	scorelogs "yardstick/bench/score/logs"
	"yardstick/bench/suite"
	"yardstick/datasets/importer"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

type scoreFlags struct {
	format, jobsFormat string
	columns, jobsMap   []string
	delimiter          string
	gpus               string
	servers            int
	gpusPerServer      int
	capacity           string
	evidence, lengths  string
	tolerance          time.Duration
	objective          string
	ignore             []string
	zone               string
	report, out, save  string
	all                bool
	width              float64
}

func (a *app) scoreCommand() *cobra.Command {
	f := scoreFlags{}
	c := &cobra.Command{
		Use:   "score [JOBS] SCHEDULE",
		Short: "How far a schedule that something else made is from the best possible one",
		Long: `Checks a schedule that another simulator or a real cluster wrote, says of which
execution class it is, and divides its cost by the bounds that are proven for that
class.

JOBS is a list of jobs (CSV, Parquet, Arrow or JSON: name, submit time, GPUs,
duration), or an instance (.json with a cluster). SCHEDULE may be a schedule of bench,
with loads, pauses and choices, of class N, P, S or M. Any other has the ends of the jobs,
or starts and ends, or the servers too; a job may have several rows. Each level of
evidence is checked as far as it goes, and the level and the class are in the table:

  completions  ends alone: there is a fluid schedule with these ends; class F(1)
  intervals    starts and ends: never more GPUs in use than there are; class N, or P0
               if a job has several intervals
  placements   servers or GPUs: none is held twice; classes as above

Without JOBS the schedule itself gives submit times and GPUs, and the lengths are
those recorded. A violation is a row with its rule, job and time, and there is no
ratio then: the command exits with 5. docs/schedules.md has the formats and columns.`,
		Example: `  bench score jobs.csv result.csv --gpus 64
  bench score jobs.csv job.csv --format tiresias --servers 8 --gpus-per-server 8
  bench score sacct.txt --format sacct --lengths recorded --gpus from-log --ignore unfinished`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error { return a.score(c.Context(), &f, args) },
	}
	c.Flags().StringVar(&f.format, "format", "table", "format of SCHEDULE: "+strings.Join(scheduleFormats(), ", "))
	c.Flags().StringVar(&f.jobsFormat, "jobs-format", "table", "format of JOBS")
	c.Flags().StringSliceVar(&f.columns, "map", nil, "which column of SCHEDULE is which, such as end=finished_at:ms")
	c.Flags().StringSliceVar(&f.jobsMap, "jobs-map", nil, "which column of JOBS is which, such as submit=queued_at:date")
	c.Flags().StringVar(&f.delimiter, "delimiter", "", "between the fields of a CSV schedule (default that of the format)")
	c.Flags().StringVar(&f.gpus, "gpus", "", "GPUs of the cluster, or from-log for the most that were in use at once")
	c.Flags().Var(atLeast(1, &f.servers), "servers", "number of servers")
	c.Flags().Var(atLeast(1, &f.gpusPerServer), "gpus-per-server", "GPUs of each server")
	c.Flags().StringVar(&f.capacity, "capacity", "", "table of the GPUs over time, with columns time and total")
	c.Flags().StringVar(&f.evidence, "evidence", "", "look at no more than completions or intervals (default all there is)")
	c.Flags().StringVar(&f.lengths, "lengths", "", "whose lengths of jobs count: jobs or recorded (default jobs, and recorded without JOBS)")
	c.Flags().Var(atLeast(0, &f.tolerance), "tolerance", "by how much times may be off, in the bound too; 0 for not at all")
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what is scored, several with commas between them, or all")
	c.Flags().StringSliceVar(&f.ignore, "ignore", nil, "jobs to leave out, of the schedule and the bound: "+strings.Join(score.IgnoreReasons(), ", "))
	c.Flags().StringVar(&f.zone, "zone", "UTC", "time zone of dates that name none")
	c.Flags().StringVar(&f.report, "report", "table", paperFormats)
	addWidth(c, &f.width)
	c.Flags().StringVarP(&f.out, "out", "o", "", "file to write instead of the terminal")
	c.Flags().StringVar(&f.save, "save", "", "JSON file for the schedule as it was scored, which bench explain reads")
	c.Flags().BoolVar(&f.all, "all", false, "every bound, not only the best")
	return c
}

// scheduleFormats lists the formats of schedules by name.
func scheduleFormats() (names []string) {
	for _, x := range scorelogs.Formats() {
		names = append(names, x.Name)
	}
	return names
}

// scoredObjectives lists what may be scored.
func scoredObjectives() []string {
	list := []string{"all"}
	for _, o := range sched.Objectives() {
		if !o.Maximised() {
			list = append(list, o.String())
		}
	}
	return list
}

func (a *app) score(ctx context.Context, f *scoreFlags, args []string) error {
	if checkListingFormat(f.report) != nil && f.report != "latex" {
		return usageError("--report %q: it must be %s", f.report, paperFormats)
	}
	objectives, err := f.chosen()
	if err != nil {
		return err
	}
	path := args[len(args)-1]
	if len(args) == 2 && f.format == "table" && strings.HasSuffix(path, ".json") {
		if text, err := input.Read(path); err == nil && isSchedule(text) {
			return a.scoreVerified(ctx, f, args[0], path, text, objectives)
		}
	}
	in, err := f.input(args)
	if err != nil {
		return err
	}
	assembled, err := score.Assemble(*in)
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	o := score.Options{Tolerance: sched.Time(f.tolerance / time.Microsecond), Rounded: assembled.Rounded, Recorded: in.Recorded}
	in = nil // the files as they were read are no longer needed
	checked, err := score.Check(assembled.Jobs, assembled.Cluster, assembled.Record, o)
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	var b bytes.Buffer
	w := a.out
	if f.out != "" {
		w = &b
	}
	verdict := a.verdict(ctx, w, f, path, assembled, checked, objectives)
	if verdict == nil && f.save != "" {
		if err := a.writeFile(f.save, (&score.Saved{Name: path, Checked: checked}).Write); err != nil {
			return err
		}
	}
	if coded, ok := errors.AsType[*exitError](verdict); f.out != "" && (verdict == nil || ok && coded.code == exitInvalid) {
		if err := a.writeFile(f.out, func(w io.Writer) error { _, err := b.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	return verdict
}

// isSchedule reports whether a JSON document is a schedule as bench solve and bench simulate
// write it.
func isSchedule(text []byte) bool {
	var keys map[string]json.RawMessage
	return strictjson.Unmarshal(text, &keys) == nil && keys["segments"] != nil
}

// scoreVerified scores a schedule with loads, pauses, places and choices, which the verifier
// checks: the class is the one that it claims.
func (a *app) scoreVerified(ctx context.Context, f *scoreFlags, instance, path string, text []byte, objectives []sched.Objective) error {
	in, err := readInstance(instance)
	if err != nil {
		return err
	}
	s, hash, err := sched.ReadSchedule(bytes.NewReader(text))
	switch {
	case err != nil:
		return usageError("%s: %w", path, err)
	case hash != "" && hash != in.Hash():
		return usageError("%s was made for another instance than %s", path, instance)
	}
	v, err := verify.Check(in, s)
	if broken, ok := errors.AsType[*verify.Error](err); ok {
		t := &listing{columns: []string{"rule", "job", "time_s", "detail"}, right: map[string]bool{"time_s": true}, paper: &paper{caption: "Violations of " + filepath.Base(path) + ".", label: "violations", width: f.width}}
		for _, x := range broken.Violations {
			t.rows = append(t.rows, []string{string(x.Rule), strconv.Itoa(int(x.Job)), decimalOf(int64(x.At)), x.Detail})
		}
		if err := t.write(a.out, f.report); err != nil {
			return err
		}
		return &exitError{exitInvalid, fmt.Errorf("%s is no schedule of the instance: %s, so it has no ratio", path, output.Count(len(broken.Violations), "violation"))}
	}
	if err != nil {
		return usageError("%s: %w", path, err)
	}
	scores, err := score.DivideVerified(ctx, v, objectives...)
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, context.Canceled}
	case err != nil:
		return usageError("%s: %w", path, err)
	}
	for _, s := range scores {
		if s.Violation != nil {
			return &exitError{exitInvalid, fmt.Errorf("%s: %v", path, s.Violation)}
		}
	}
	c := &score.Checked{Evidence: score.Placements, Class: v.Class(), Jobs: make([]score.Job, len(in.Jobs)), Cluster: score.Cluster{GPUs: int64(in.Cluster.GPUs()) * score.Milli}}
	write := func(w io.Writer) error {
		if f.report == "table" || f.report == "md" {
			writeScoreHeading(w, f.report, path, &score.Assembled{}, c, false)
		}
		t := scoreListing(&score.Assembled{}, c, scores, f.all)
		t.paper = scorePaper(f, path, c)
		return t.write(w, f.report)
	}
	if f.save != "" {
		if err := a.writeFile(f.save, (&score.Saved{Name: path, Verified: v}).Write); err != nil {
			return err
		}
	}
	if f.out != "" {
		return a.writeFile(f.out, write)
	}
	return write(a.out)
}

// chosen returns the objectives.
func (f *scoreFlags) chosen() (list []sched.Objective, err error) {
	for _, name := range strings.Split(f.objective, ",") {
		if name == "all" {
			for _, o := range sched.Objectives() {
				if !o.Maximised() {
					list = append(list, o)
				}
			}
			continue
		}
		o, err := parseObjective(name)
		if err != nil {
			return nil, err
		}
		if o.Maximised() {
			return nil, usageError("--objective: %v is maximised, and what something else recorded is scored by what it cost", o)
		}
		list = append(list, o)
	}
	return list, nil
}

// input reads the files.
func (f *scoreFlags) input(args []string) (*score.Input, error) {
	in := &score.Input{Recorded: len(args) == 1, Ignore: f.ignore}
	for _, reason := range f.ignore {
		if !slices.Contains(score.IgnoreReasons(), reason) {
			return nil, usageError("--ignore %q: it must be some of %s", reason, strings.Join(score.IgnoreReasons(), ", "))
		}
	}
	switch f.lengths {
	case "":
	case "recorded":
		in.Recorded = true
	case "jobs":
		in.Recorded = false
	default:
		return nil, usageError("--lengths %q: it must be jobs or recorded", f.lengths)
	}
	switch f.evidence {
	case "":
	case "completions":
		in.Evidence = score.Completions
	case "intervals":
		in.Evidence = score.Intervals
	default:
		return nil, usageError("--evidence %q: it must be completions or intervals", f.evidence)
	}
	zone, err := time.LoadLocation(f.zone)
	if err != nil {
		return nil, usageError("--zone %q is no time zone such as UTC or Asia/Shanghai", f.zone)
	}
	clock := importer.Clock{Zone: zone}
	if in.Schedule, err = readLog(args[len(args)-1], f.format, "--map", f.columns, f.delimiter, clock); err != nil {
		return nil, err
	}
	if len(args) == 2 {
		if strings.HasSuffix(args[0], ".json") && f.jobsFormat == "table" && len(f.jobsMap) == 0 && isInstance(args[0]) {
			if in.Instance, err = readInstance(args[0]); err != nil {
				return nil, err
			}
		} else if in.Jobs, err = readLog(args[0], f.jobsFormat, "--jobs-map", f.jobsMap, "", clock); err != nil {
			return nil, err
		}
	}
	return in, f.cluster(in, clock)
}

// isInstance reports whether a JSON file is an instance, and no list of jobs.
func isInstance(path string) bool {
	log, err := scorelogs.Read(path, scorelogs.Options{})
	return err != nil || len(log.Rows) == 1 && !log.Rows[0].Submit.OK
}

func readLog(path, format, flag string, mapped []string, delimiter string, clock importer.Clock) (*scorelogs.Log, error) {
	o := scorelogs.Options{Clock: clock}
	var err error
	if o.Format, err = scorelogs.Find(format); err != nil {
		return nil, usageError("%w", err)
	}
	for _, text := range mapped {
		c, err := scorelogs.ParseColumn(text)
		if err != nil {
			return nil, usageError("%s %w", flag, err)
		}
		o.Map = append(o.Map, c)
	}
	if len(delimiter) > 1 {
		return nil, usageError("--delimiter %q: it must be one character", delimiter)
	}
	if delimiter != "" {
		o.Comma = delimiter[0]
	}
	log, err := scorelogs.Read(path, o)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return log, nil
}

// cluster reads what the schedule was made on.
func (f *scoreFlags) cluster(in *score.Input, clock importer.Clock) error {
	given := f.gpus != "" || f.servers > 0 || f.gpusPerServer > 0
	switch {
	case in.Instance != nil && given:
		return usageError("the instance holds its own cluster: --gpus, --servers and --gpus-per-server go with a job list")
	case in.Instance != nil:
		for _, s := range in.Instance.Cluster.Servers {
			in.Servers = append(in.Servers, s.GPUs)
			in.GPUs += int64(s.GPUs) * score.Milli
		}
	case f.servers > 0 && f.gpusPerServer > 0 && f.gpus == "":
		in.Servers = slices.Repeat([]int{f.gpusPerServer}, f.servers)
		in.GPUs = int64(f.servers) * int64(f.gpusPerServer) * score.Milli
	case f.gpus == "from-log" && f.servers == 0 && f.gpusPerServer == 0:
	case f.gpus != "" && f.servers == 0 && f.gpusPerServer == 0:
		n, err := strconv.ParseInt(f.gpus, 10, 32)
		if err != nil || n < 1 {
			return usageError("--gpus %q: it must be a number of GPUs, or from-log", f.gpus)
		}
		in.GPUs = n * score.Milli
		if f.format == "batsim" || f.format == "gavel" { // whose resources are those of one server
			in.Servers = []int{int(n)}
		}
	default:
		return usageError("which cluster? give --gpus N, --gpus from-log, or --servers M with --gpus-per-server G")
	}
	if f.capacity == "" {
		return nil
	}
	log, err := scorelogs.Read(f.capacity, scorelogs.Options{Clock: clock, Map: []scorelogs.Column{{Field: "start", Names: []string{"time"}}, {Field: "gpus", Names: []string{"total"}}}})
	if err != nil {
		return usageError("--capacity: %w", err)
	}
	for i := range log.Rows {
		r := &log.Rows[i]
		if !r.Start.OK || r.GPUs < 0 {
			return usageError("--capacity %s: row %d needs a time and a total", f.capacity, i+1)
		}
		in.Capacity = append(in.Capacity, score.Step{At: sched.Time(r.Start.V), GPUs: r.GPUs})
	}
	return nil
}

// verdict prints violations, or costs and what they are divided by.
func (a *app) verdict(ctx context.Context, w io.Writer, f *scoreFlags, path string, in *score.Assembled, c *score.Checked, objectives []sched.Objective) error {
	broken := slices.Concat(in.Unknown, c.Violations)
	total := len(in.Unknown) + c.Broken
	var scores []*score.Score
	if total == 0 {
		var err error
		scores, err = score.Divide(ctx, c, objectives...)
		switch {
		case ctx.Err() != nil:
			return &exitError{exitInterrupted, context.Canceled}
		case errors.Is(err, bench.ErrBoundRefuted):
			return &exitError{exitInvalid, err}
		case err != nil:
			return usageError("%s: %w", path, err)
		}
		for _, s := range scores {
			if s.Violation != nil {
				broken, total = append(broken, *s.Violation), total+1
			}
		}
	}
	if f.report == "table" || f.report == "md" {
		writeScoreHeading(w, f.report, path, in, c, total > 0)
	}
	if total > 0 {
		t := &listing{columns: []string{"rule", "job", "time_s", "detail"}, right: map[string]bool{"time_s": true}, paper: &paper{caption: "Violations of " + filepath.Base(path) + ".", label: "violations", width: f.width}}
		shown := len(broken)
		if !f.all && (f.report == "table" || f.report == "md") {
			shown = min(shown, 20)
		}
		for i := range broken[:shown] {
			v := &broken[i]
			t.rows = append(t.rows, []string{v.Rule, v.Job, decimalOf(int64(v.At) + in.Origin), v.Detail})
		}
		if err := t.write(w, f.report); err != nil {
			return err
		}
		return &exitError{exitInvalid, fmt.Errorf("%s is no schedule of these jobs on this cluster: %s, so it has no ratio%s", path, output.Count(total, "violation"), moreShown(shown, len(broken)))}
	}
	t := scoreListing(in, c, scores, f.all)
	t.paper = scorePaper(f, path, c)
	return t.write(w, f.report)
}

// scorePaper says what the scores are of.
func scorePaper(f *scoreFlags, path string, c *score.Checked) *paper {
	caption := fmt.Sprintf("%s: %s on %s GPUs, evidence %v, class %v. The ratio is at most cost over bound, rounded up.", filepath.Base(path), output.Count(len(c.Jobs), "job"), score.GPUs(c.Cluster.GPUs), c.Evidence, c.Class)
	return &paper{caption: caption, label: "score", width: f.width, names: map[string]bool{"by": true}, drop: map[string]int{"class_of_bound": 1, "certified": 2}}
}

// moreShown says how to see what is not shown.
func moreShown(shown, kept int) string {
	if shown == kept {
		return ""
	}
	return fmt.Sprintf(" (--all lists %d of them)", kept)
}

func writeScoreHeading(w io.Writer, format, path string, in *score.Assembled, c *score.Checked, broken bool) {
	gap := "\n"
	if format == "md" {
		gap = "\n\n"
	}
	class := "class " + c.Class.String()
	if broken {
		class = "no class"
	}
	fmt.Fprintf(w, "%s · %s, %s GPUs · evidence: %v · %s%s", path, output.Count(len(c.Jobs), "job"), score.GPUs(c.Cluster.GPUs), c.Evidence, class, gap)
	for _, l := range in.LeftOut {
		fmt.Fprintf(w, "%s left out: %s%s", output.Count(l.Jobs, "job"), l.Reason, gap)
	}
	for _, note := range in.Notes {
		fmt.Fprintf(w, "note: %s%s", note, gap)
	}
	if c.Shortened > 0 || c.Early > 0 {
		fmt.Fprintf(w, "note: within the tolerance %d jobs count as shorter and %d as released earlier, in the bound too%s", c.Shortened, c.Early, gap)
	}
	if c.Necessary {
		fmt.Fprintf(w, "note: the ends are too many to be decided: they pass a necessary check, and may be infeasible all the same%s", gap)
	}
	if format == "table" {
		fmt.Fprintln(w)
	}
}

// scoreListing has a row for each objective, or each bound of each.
func scoreListing(in *score.Assembled, c *score.Checked, scores []*score.Score, all bool) *listing {
	t := &listing{columns: []string{"objective", "cost", "bound", "ratio", "by", "class_of_bound", "certified", "evidence", "class", "jobs", "left_out", "notes", "cost_exact", "bound_exact"},
		right:  map[string]bool{"cost": true, "bound": true, "ratio": true},
		hidden: map[string]bool{"evidence": true, "class": true, "jobs": true, "left_out": true, "notes": true, "cost_exact": true, "bound_exact": true}}
	evidence := c.Evidence.String()
	if c.Necessary {
		evidence += ", by a necessary check"
	}
	var left []string
	for _, l := range in.LeftOut {
		left = append(left, fmt.Sprintf("%d %s", l.Jobs, l.Reason))
	}
	for _, s := range scores {
		for i := range s.Bounds {
			b := &s.Bounds[i]
			if !all && b != s.Best {
				continue
			}
			certified := "no"
			if b.Certified {
				certified = "yes"
			}
			t.rows = append(t.rows, []string{s.Objective.String(), costText(s.Objective, s.Cost), costText(s.Objective, b.Value), s.RatioTo(b), b.Name, b.Class.String(), certified,
				evidence, c.Class.String(), strconv.Itoa(len(c.Jobs)), strings.Join(left, "; "), strings.Join(in.Notes, "; "), s.Cost.RatString(), b.Value.RatString()})
		}
	}
	return t
}

// decimalOf writes microseconds as seconds, before 0 too.
func decimalOf(micros int64) string {
	if micros < 0 {
		return "-" + decimal(sched.Time(-micros))
	}
	return decimal(sched.Time(micros))
}
