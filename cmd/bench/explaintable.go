package main

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/explain"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/internal/output"
)

// explained is an explanation as it is printed.
type explained struct {
	*explain.Explanation
	subject   *subject
	reference *side
	flags     *explainFlags
}

// Of a Gantt chart: jobs, and columns of text.
const (
	ganttJobs    = 24
	ganttColumns = 100
)

// explainColumns are the columns of csv and json, which have a row for each thing of each part.
var explainColumns = []string{"part", "key", "jobs", "adds", "adds_exact", "share", "worse", "better", "gpus", "user", "release_s", "from_s", "to_s", "later_s", "longer_s", "by", "gpu_s", "gpu_s_exact", "enough_free_s", "schedule"}

// write prints what the flags ask for.
func (x *explained) write(w io.Writer) error {
	switch x.flags.format {
	case "csv", "json":
		all := &listing{columns: explainColumns}
		for _, part := range explainParts {
			if x.flags.part == "" || x.flags.part == part {
				all.rows = append(all.rows, x.rows(part).rows...)
			}
		}
		return all.write(w, x.flags.format)
	}
	for i, part := range explainParts {
		if x.flags.part != "" && x.flags.part != part {
			continue
		}
		if i > 0 && x.flags.part == "" {
			fmt.Fprintln(w)
		}
		if err := x.print(w, part); err != nil {
			return err
		}
	}
	return nil
}

// titles of the parts that are tables.
var explainTitles = map[string]string{
	"jobs":   "jobs that add most, and that take away most",
	"gangs":  "by gang size",
	"users":  "by user",
	"hours":  "by hour of release, from the beginning",
	"delays": "jobs that start latest compared with the reference, and who held the GPUs that they lacked",
}

// print writes a part for people.
func (x *explained) print(w io.Writer, part string) error {
	switch part {
	case "summary":
		return x.printSummary(w)
	case "gantt":
		return x.printGantt(w)
	}
	t := x.rows(part)
	keep := map[string][]string{
		"jobs":   {"key", "adds", "share", "gpus", "user", "release_s", "later_s", "longer_s"},
		"gangs":  {"key", "jobs", "adds", "share", "worse", "better"},
		"users":  {"key", "jobs", "adds", "share", "worse", "better"},
		"hours":  {"key", "jobs", "adds", "share", "worse", "better"},
		"delays": {"key", "from_s", "to_s", "later_s", "enough_free_s", "by", "gpu_s"},
	}[part]
	t.hidden = map[string]bool{}
	for _, c := range t.columns {
		t.hidden[c] = !slices.Contains(keep, c)
	}
	title := explainTitles[part]
	switch {
	case part == "delays" && !x.Started():
		fmt.Fprintf(w, "%s: not known, as a schedule has ends alone\n", title)
		return nil
	case len(t.rows) == 0:
		fmt.Fprintf(w, "%s: none\n", title)
		return nil
	}
	gap := "\n"
	if x.flags.format == "md" {
		gap = "\n\n"
	}
	if total := x.count(part); len(t.rows) < total {
		title += fmt.Sprintf(" (%d of %d)", len(t.rows), total)
	}
	fmt.Fprint(w, title, gap)
	return t.write(w, x.flags.format)
}

// count is how many things a part has in all.
func (x *explained) count(part string) int {
	switch part {
	case "jobs":
		return len(x.Most(len(x.Jobs)))
	case "gangs", "users", "hours":
		return len(x.Groups(explainKeys[part]))
	}
	return 0
}

var explainKeys = map[string]explain.Key{"gangs": explain.GangSize, "users": explain.User, "hours": explain.Hour}

// top is how many things are listed of so many.
func (x *explained) top(all int) int {
	switch {
	case x.flags.top > 0:
		return min(all, x.flags.top)
	case x.flags.format == "csv" || x.flags.format == "json":
		return all
	}
	return min(all, 10)
}

// cost shows a cost.
func (x *explained) cost(v *big.Rat) string { return costText(x.subject.objective, v) }

// amount shows what is added: in seconds where costs are times.
func (x *explained) amount(v *big.Rat) string {
	if !x.IsTime() {
		return v.RatString()
	}
	return trimZeros(new(big.Rat).Quo(v, big.NewRat(1_000_000, 1)).FloatString(6))
}

// share is a part of the difference, in percent.
func (x *explained) share(v *big.Rat) string {
	if x.Difference.Sign() == 0 {
		return ""
	}
	return new(big.Rat).Mul(new(big.Rat).Quo(v, x.Difference), big.NewRat(100, 1)).FloatString(1) + "%"
}

// rows are those of a part.
func (x *explained) rows(part string) *listing {
	t := &listing{columns: explainColumns, right: map[string]bool{"jobs": true, "adds": true, "share": true, "worse": true, "better": true, "gpus": true, "release_s": true, "from_s": true,
		"to_s": true, "later_s": true, "longer_s": true, "gpu_s": true, "enough_free_s": true}}
	add := func(cells map[string]string) {
		row := make([]string, len(explainColumns))
		row[0] = part
		for name, text := range cells {
			row[slices.Index(explainColumns, name)] = text
		}
		t.rows = append(t.rows, row)
	}
	switch part {
	case "summary":
		x.addSummary(add)
	case "jobs":
		for _, s := range x.Most(x.top(len(x.Jobs))) {
			j := &x.Jobs[s.Job]
			cells := map[string]string{"key": x.NameOf(s.Job), "jobs": "1", "adds": x.amount(s.Adds), "adds_exact": s.Adds.RatString(), "share": x.share(s.Adds), "gpus": explain.GPUs(j.GPUs), "user": j.User,
				"release_s": decimalOf(j.Release)}
			if x.Started() {
				cells["later_s"], cells["longer_s"] = decimalOf(s.Later), decimalOf(s.Longer)
			}
			add(cells)
		}
	case "gangs", "users", "hours":
		groups := x.Groups(explainKeys[part])
		if n := x.top(len(groups)); n < len(groups) { // those that matter most, in the order of their keys
			size := func(g explain.Group) *big.Rat { return new(big.Rat).Abs(g.Adds) }
			sorted := slices.Clone(groups)
			slices.SortStableFunc(sorted, func(a, b explain.Group) int { return size(b).Cmp(size(a)) })
			kept := map[string]bool{}
			for _, g := range sorted[:n] {
				kept[g.Key] = true
			}
			groups = slices.DeleteFunc(groups, func(g explain.Group) bool { return !kept[g.Key] })
		}
		for _, g := range groups {
			add(map[string]string{"key": g.Key, "jobs": strconv.Itoa(g.Jobs), "adds": x.amount(g.Adds), "adds_exact": g.Adds.RatString(), "share": x.share(g.Adds), "worse": x.amount(g.Worse), "better": x.amount(g.Better)})
		}
	case "delays":
		x.addDelays(add)
	case "gantt":
		x.addGantt(add)
	}
	return t
}

// mostBlamed is how many jobs people see of those that held what another one lacked.
const mostBlamed = 3

func (x *explained) addDelays(add func(map[string]string)) {
	tidy := x.flags.format == "csv" || x.flags.format == "json"
	n := x.flags.top
	if n == 0 {
		n = 10
	}
	for _, d := range x.Delays(n) {
		cells := map[string]string{"key": x.NameOf(d.Job), "gpus": explain.GPUs(x.Jobs[d.Job].GPUs), "user": x.Jobs[d.Job].User, "from_s": decimalOf(d.From), "to_s": decimalOf(d.To), "later_s": decimalOf(d.To - d.From),
			"enough_free_s": decimalOf(d.Free), "gpu_s": gpuSeconds(d.Lacked), "gpu_s_exact": exactGPUSeconds(d.Lacked)}
		var by []string
		for i, b := range d.By {
			if i == mostBlamed {
				by = append(by, fmt.Sprintf("%d more", len(d.By)-i))
				break
			}
			by = append(by, fmt.Sprintf("%s: %s", x.NameOf(b.Job), gpuSeconds(b.Held)))
		}
		if !tidy {
			cells["by"] = strings.Join(by, ", ")
			add(cells)
			continue
		}
		add(cells) // the whole, without anyone named, and a row for each who held some of it
		for _, b := range d.By {
			add(map[string]string{"key": x.NameOf(d.Job), "by": x.NameOf(b.Job), "gpu_s": gpuSeconds(b.Held), "gpu_s_exact": exactGPUSeconds(b.Held)})
		}
	}
}

// perGPUSecond is how many thousandths of GPUs times microseconds a GPU-second is.
const perGPUSecond = explain.Milli * 1_000_000

func gpuSeconds(v *big.Int) string {
	return trimZeros(new(big.Rat).SetFrac(v, big.NewInt(perGPUSecond)).FloatString(3))
}

func exactGPUSeconds(v *big.Int) string {
	return new(big.Rat).SetFrac(v, big.NewInt(perGPUSecond)).RatString()
}

// addSummary are the costs, and how far they are from each other.
func (x *explained) addSummary(add func(map[string]string)) {
	line := func(key string, v *big.Rat, schedule string) {
		add(map[string]string{"key": key, "adds": x.amount(v), "adds_exact": v.RatString(), "schedule": schedule})
	}
	line("cost", x.Cost, x.subject.this.name)
	line("reference", x.Against, x.reference.name)
	line("difference", x.Difference, "")
	for _, one := range x.proven() {
		line(one.key, one.value, one.by)
	}
}

// provenValue is something that is proven of the least cost.
type provenValue struct {
	key, by string
	value   *big.Rat
}

// proven are the optimum, or the bound, that a result knows of, in the unit of costs, and how
// far the reference is from it.
func (x *explained) proven() []provenValue {
	row := x.subject.row
	switch {
	case x.reference.optimal != "":
		return []provenValue{{"optimum", x.reference.optimal, x.Against}, {key: "reference-to-optimum", value: new(big.Rat)}}
	case row == nil:
		return nil
	}
	known := provenValue{key: "optimum", by: string(row.OptimumMethod)}
	text := row.OptimumExact
	if !row.Optimum.Valid || row.OptimumStatus == record.Claimed {
		known, text = provenValue{key: "bound", by: string(row.LowerBoundMethod)}, row.LowerBoundExact
	}
	value, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return nil
	}
	if x.IsTime() {
		value.Mul(value, big.NewRat(1_000_000, 1))
	}
	known.value = value
	rest := new(big.Rat).Sub(x.Against, value)
	if x.Maximised() {
		rest.Neg(rest)
	}
	return []provenValue{known, {key: "reference-to-" + known.key, value: rest}}
}

func (x *explained) printSummary(w io.Writer) error {
	s := x.subject
	where := s.path
	if s.row != nil {
		where += ", instance " + s.row.Instance
	}
	gap := "\n"
	if x.flags.format == "md" {
		gap = "\n\n"
	}
	percent := ""
	if x.Against.Sign() > 0 {
		percent = " (" + new(big.Rat).Mul(new(big.Rat).Quo(x.Difference, x.Against), big.NewRat(100, 1)).FloatString(2) + "%)"
	}
	fmt.Fprintf(w, "%s, %s: %s%s", where, s.objective, output.Count(len(x.Jobs), "job"), gap)
	fmt.Fprintf(w, "%s costs %s, class %v%s", s.this.name, x.cost(x.Cost), s.this.class, gap)
	fmt.Fprintf(w, "%s costs %s, class %v: the reference%s", x.reference.name, x.cost(x.Against), x.reference.class, gap)
	fmt.Fprintf(w, "the difference is %s%s", x.cost(x.Difference), percent)
	if x.Difference.Sign() < 0 {
		fmt.Fprint(w, ": the reference is worse")
	}
	fmt.Fprint(w, gap)
	list := x.proven()
	switch {
	case list == nil:
		fmt.Fprintf(w, "the optimum is not known%s", gap)
	case list[0].key == "optimum" && list[1].value.Sign() == 0:
		fmt.Fprintf(w, "the reference is optimal: proven by %s%s", list[0].by, gap)
	case list[0].key == "optimum":
		fmt.Fprintf(w, "the optimum is %s (%s): %s further from the reference%s", x.cost(list[0].value), list[0].by, x.cost(list[1].value), gap)
	default:
		fmt.Fprintf(w, "the optimum is not known: no schedule of the class is better than %s (%s), at most %s from the reference%s", x.cost(list[0].value), list[0].by, x.cost(list[1].value), gap)
	}
	return nil
}

func (x *explained) printGantt(w io.Writer) error {
	win := x.Window(ganttJobs)
	text := x.Text(win, x.subject.this.name, x.reference.name, ganttColumns)
	if text == "" {
		fmt.Fprintln(w, "Gantt chart: none, as a schedule has ends alone or nothing was delayed")
		return nil
	}
	what := "all jobs"
	if !win.All {
		what = "the most delayed jobs and those that they waited for"
	}
	if x.flags.format == "md" {
		text = "```\n" + text + "```\n"
	}
	fmt.Fprintf(w, "%s, from %s s to %s s (# runs, . waits)\n%s%s", what, decimalOf(win.From), decimalOf(win.To), map[bool]string{true: "\n"}[x.flags.format == "md"], text)
	return nil
}

func (x *explained) addGantt(add func(map[string]string)) {
	if !x.Started() {
		return
	}
	for _, row := range x.Rows(x.Window(ganttJobs)) {
		for _, one := range []struct {
			name   string
			pieces []explain.Piece
		}{{x.subject.this.name, row.This}, {x.reference.name, row.Reference}} {
			for _, p := range one.pieces {
				add(map[string]string{"key": x.NameOf(row.Job), "schedule": one.name, "gpus": explain.GPUs(p.GPUs), "from_s": decimalOf(p.Start), "to_s": decimalOf(p.End)})
			}
		}
	}
}

// writeCompared writes the Gantt chart of both schedules.
func (a *app) writeCompared(x *explained) error {
	if !x.Started() {
		return usageError("--gantt: a schedule has ends alone, and a chart needs starts")
	}
	win := x.Window(ganttJobs)
	if len(win.Jobs) == 0 {
		return usageError("--gantt: no job starts later than in the reference, so that there is no part of so many jobs to show")
	}
	svg, err := report.Compared(x.Explanation, win, x.subject.this.name, x.reference.name).SVG()
	if err != nil {
		return err
	}
	return a.writeFile(x.flags.gantt, func(w io.Writer) error { _, err := w.Write(svg); return err })
}
