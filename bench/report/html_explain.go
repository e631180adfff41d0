package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/bench/explain"
	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/internal/strictjson"
)

const differenceIntro = "Of each group the schedule with the greatest ratio among the online policies, beside the best one of the same instance; instances of which a chart would show less than half " +
	"of the jobs are passed over where there are others. In the chart of the GPUs numbers are jobs, pale bars loads and pauses, and grey is idle until the schedule's end. Which GPU of a server a job holds is not recorded: lanes are filled as they fit, and jobs that " +
	"share a GPU have parts of its lane. In the chart of the jobs a lane is a job, pale where it waits. What jobs add is exact and adds up to the difference. From the best schedule's start of a job to the other's, what the job lacks is counted against the jobs that " +
	"hold it and started last. Definitions: docs/explain.md; bench explain explains any other schedule."

// Of what is explained, the report shows so much.
const (
	explainedRows   = 10
	explainedJobs   = 24 // of a chart
	explainedBlamed = 3
)

// explained is one schedule beside its reference.
type explained struct {
	*explain.Explanation
	view            *view
	this, reference *record.Ratio
}

// differences are, of each figured group, a schedule beside the best one: on the GPUs where
// a chart can show both, and by jobs.
func (v *views) differences() (plans []plan) {
	for _, g := range v.figured {
		worst, best := v.worstAndBest(g)
		x, ok := v.explanation(g, worst)
		if ok && v.shown(x.this) && v.shown(x.reference) {
			worst, best = x.this, x.reference
		}
		if worst != nil {
			plans = append(plans, v.gantt(g, worst, best))
		}
		if ok {
			plans = append(plans, x.plan())
		}
	}
	return plans
}

// explanation is that of a row of a group, or of the one with the greatest ratio to the best
// known if the row is nil or may not be explained; there is none without two schedules of one
// instance, or if no online policy is worse than another schedule.
func (v *views) explanation(g *view, this *record.Ratio) (explained, bool) {
	may := func(row *record.Ratio) bool {
		return row.Kind == "online" && row.Sense == record.Min && row.RatioToBestKnown.Valid && row.RatioToBestKnown.V > 1 && len(v.jobsOf(row)) > 0
	}
	if this == nil || !may(this) {
		this = nil
		for _, row := range g.rows {
			if may(row) && (this == nil || row.RatioToBestKnown.V > this.RatioToBestKnown.V) {
				this = row
			}
		}
	}
	if this == nil {
		return explained{}, false
	}
	var rows []*record.Ratio
	for _, row := range g.rows {
		if row.Instance == this.Instance && row != this && len(v.jobsOf(row)) == len(v.jobsOf(this)) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b *record.Ratio) int { // exact methods first
		return cmp.Compare(boolean(b.Kind == "exact"), boolean(a.Kind == "exact"))
	})
	candidates := make([]explain.Candidate, len(rows))
	for i, row := range rows {
		candidates[i] = explain.Candidate{Name: row.Method, Class: row.Class}
		if cost, ok := new(big.Rat).SetString(string(row.CostExact)); ok {
			candidates[i].Cost = cost
		}
	}
	best, err := explain.Choose(this.Class, this.Objective, candidates)
	if err != nil || best < 0 {
		return explained{}, false
	}
	places, err := explain.Places(int64(this.GPUs)*explain.Milli, this.Class, rows[best].Class)
	if err != nil {
		return explained{}, false
	}
	in := explain.Input{Objective: this.Objective, GPUs: places, Jobs: v.explainedJobs(this, rows[best]), This: v.explainedSchedule(this), Reference: v.explainedSchedule(rows[best])}
	e, err := explain.New(in)
	if err != nil || !costs(e.Cost, this) || !costs(e.Against, rows[best]) { // rows that contradict each other are for bench verify
		return explained{}, false
	}
	return explained{e, g, this, rows[best]}, true
}

// costs reports whether a cost in microseconds is that of the row.
func costs(v *big.Rat, row *record.Ratio) bool {
	said, ok := new(big.Rat).SetString(string(row.CostExact))
	return ok && said.Mul(said, big.NewRat(1_000_000, 1)).Cmp(v) == 0
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// micros is a time of a table, which has the float64 nearest to it.
func micros(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

// explainedJobs are the jobs of two schedules of one instance.
func (v *views) explainedJobs(this, reference *record.Ratio) []explain.Job {
	rows, others := v.jobsOf(this), v.jobsOf(reference)
	users := v.users(this)
	list := make([]explain.Job, len(rows))
	for i := range rows {
		j := &rows[i]
		list[i] = explain.Job{Name: string(j.Name), Release: micros(j.Release), Weight: 1}
		if j.Weight.Valid {
			list[i].Weight = j.Weight.V
		}
		if j.GPUs == others[i].GPUs { // others hold as many as their scheduler chose
			list[i].GPUs = int64(j.GPUs.V) * explain.Milli
		}
		if i < len(users) {
			list[i].User = users[i]
		}
	}
	return list
}

// users reads who the jobs of an instance belong to; nil if that is not at hand.
func (v *views) users(row *record.Ratio) (users []string) {
	text, err := record.ReadInstance(v.run.Dir, row.InstanceSHA256)
	if err != nil {
		return nil
	}
	var keys map[string]json.RawMessage
	var jobs []map[string]json.RawMessage
	if strictjson.Unmarshal(text, &keys) != nil || strictjson.Unmarshal(keys["jobs"], &jobs) != nil {
		return nil
	}
	for _, j := range jobs {
		name := ""
		if j["user"] != nil && strictjson.Unmarshal(j["user"], &name) != nil {
			return nil
		}
		users = append(users, name)
	}
	return users
}

// explainedSchedule is a schedule from its rows.
func (v *views) explainedSchedule(row *record.Ratio) explain.Schedule {
	s := explain.Schedule{Pieces: []explain.Piece{}}
	for _, j := range v.jobsOf(row) {
		end := int64(-1)
		if j.Completion.Valid {
			end = micros(j.Completion.V)
		}
		s.Ends = append(s.Ends, end)
	}
	type key struct{ job, segment int }
	at := map[key]int{}
	for _, p := range v.piecesOf(row) {
		k := key{p.Job, p.Segment}
		i, there := at[k]
		if !there {
			i = len(s.Pieces)
			at[k] = i
			s.Pieces = append(s.Pieces, explain.Piece{Job: p.Job, Start: micros(p.Start), End: micros(p.End)})
		}
		s.Pieces[i].GPUs += int64(p.GPUs) * explain.Milli // on one more server
	}
	if len(s.Pieces) == 0 {
		s.Pieces = nil
	}
	return s
}

// name is a row's method with its cost.
func (x *explained) name(row *record.Ratio) string {
	return fmt.Sprintf("%s, %s %s", row.Method, objectiveTitle(row.Objective), costText(row))
}

// amount shows what is added, in seconds.
func amount(v *big.Rat) string {
	f, _ := new(big.Rat).Quo(v, big.NewRat(1_000_000, 1)).Float64()
	return plainSeconds(f)
}

// plainSeconds are whole ones where there are many.
func plainSeconds(s float64) string {
	if math.Abs(s) >= 1000 {
		return thousands(directed(s, 0, 0))
	}
	return short(s)
}

func (x *explained) percent(v *big.Rat) string {
	if x.Difference.Sign() == 0 {
		return missing
	}
	f, _ := new(big.Rat).Quo(v, x.Difference).Float64()
	return directed(100*f, 1, 0) + "%"
}

// tables say what jobs and groups add, and who waited for whom.
func (x *explained) tables() []block {
	of := x.view.short
	title := fmt.Sprintf("%s beside %s on %s (%s): %s s", spaced(x.this.Method), spaced(x.reference.Method), x.this.Instance, objectiveTitle(x.this.Objective), amount(x.Difference))
	most := x.Most(explainedRows)
	jobs := &htmlTable{Caption: "Jobs · " + title, Columns: []heading{{name: "job", left: true}, {name: "adds (s)"}, {name: "share"}, {name: "GPUs"}, {name: "user", left: true}, {name: "release (s)"}, {name: "starts later by (s)"}, {name: "takes longer by (s)"}}}
	for _, s := range most {
		j := &x.Jobs[s.Job]
		jobs.Rows = append(jobs.Rows, plainCells([]string{x.NameOf(s.Job), amount(s.Adds), x.percent(s.Adds), explain.GPUs(j.GPUs), cmp.Or(j.User, missing), plainSeconds(float64(j.Release) / 1e6), plainSeconds(float64(s.Later) / 1e6), plainSeconds(float64(s.Longer) / 1e6)}))
	}
	if all := len(x.Most(len(x.Jobs))); all > len(most) {
		jobs.Note = fmt.Sprintf("%d of %s jobs that add or take away are shown.", len(most), count(all))
	}
	tables := []*htmlTable{jobs}
	for _, by := range []struct {
		name string
		key  explain.Key
	}{{"gang size", explain.GangSize}, {"user", explain.User}, {"hour of release", explain.Hour}} {
		tables = append(tables, x.groups(by.name, of, x.Groups(by.key)))
	}
	delays := x.delays(of)
	if len(delays.Rows) == 0 {
		return []block{{Tables: tables}, {List: []string{"No job starts later than in the reference."}}}
	}
	return []block{{Tables: append(tables, delays)}}
}

// groups are what groups add, those that add most either way.
func (x *explained) groups(name, of string, groups []explain.Group) *htmlTable {
	t := &htmlTable{Caption: "By " + name + " · " + of, Columns: []heading{{name: name, left: true}, {name: "jobs"}, {name: "adds (s)"}, {name: "share"}, {name: "worse (s)"}, {name: "better (s)"}}}
	if len(groups) > explainedRows {
		t.Note = fmt.Sprintf("%d of %s groups are shown, those that add or take away most.", explainedRows, count(len(groups)))
		slices.SortStableFunc(groups, func(a, b explain.Group) int { return new(big.Rat).Abs(b.Adds).Cmp(new(big.Rat).Abs(a.Adds)) })
		groups = groups[:explainedRows]
	}
	for _, g := range groups {
		t.Rows = append(t.Rows, plainCells([]string{g.Key, fmt.Sprint(g.Jobs), amount(g.Adds), x.percent(g.Adds), amount(g.Worse), amount(g.Better)}))
	}
	return t
}

func (x *explained) delays(of string) *htmlTable {
	t := &htmlTable{Caption: "Most delayed, by whom · " + of, Columns: []heading{{name: "job", left: true}, {name: "reference starts it (s)"}, {name: "started (s)"}, {name: "later by (s)"}, {name: "lacked (GPU-s)"}, {name: "held by (GPU-s)", left: true},
		{name: "enough GPUs free (s)"}}}
	held := func(v *big.Int) string {
		f, _ := new(big.Rat).SetFrac(v, big.NewInt(explain.Milli*1_000_000)).Float64()
		return plainSeconds(f)
	}
	for _, d := range x.Delays(explainedRows) {
		by := ""
		for i, b := range d.By {
			if i == explainedBlamed {
				by += fmt.Sprintf(" and %d more", len(d.By)-i)
				break
			}
			if i > 0 {
				by += ", "
			}
			by += x.NameOf(b.Job) + " " + held(b.Held)
		}
		t.Rows = append(t.Rows, plainCells([]string{x.NameOf(d.Job), plainSeconds(float64(d.From) / 1e6), plainSeconds(float64(d.To) / 1e6), plainSeconds(float64(d.To-d.From) / 1e6), held(d.Lacked), cmp.Or(by, missing), plainSeconds(float64(d.Free) / 1e6)}))
	}
	return t
}

// plan is the chart of both schedules, and the tables below it.
func (x *explained) plan() plan {
	w := x.Window(explainedJobs)
	if !x.Started() || len(w.Jobs) == 0 || w.To <= w.From {
		return plan{tables: x.tables()}
	}
	p := plan{caption: fmt.Sprintf("Jobs under %s and %s · %s, %s", spaced(x.this.Method), spaced(x.reference.Method), x.this.Instance, objectiveTitle(x.this.Objective)), file: "explained-" + x.view.slug + ".csv", wide: true,
		columns: []heading{{name: "schedule", left: true}, {name: "job", left: true}, {name: "state", left: true}, {name: "GPUs"}, {name: "start (s)"}, {name: "end (s)"}}}
	p.note = "All jobs."
	if !w.All {
		p.note = fmt.Sprintf("%d of %s jobs: the most delayed, and those that held what they lacked.", len(w.Jobs), count(len(x.Jobs)))
	}
	for _, row := range x.Rows(w) {
		for i, pieces := range [][]explain.Piece{row.This, row.Reference} {
			for _, piece := range pieces {
				state := "runs"
				if piece.GPUs == 0 {
					state = "waits"
				}
				p.rows = append(p.rows, []string{[]string{x.this.Method, x.reference.Method}[i], x.NameOf(row.Job), state, explain.GPUs(piece.GPUs), short(float64(piece.Start) / 1e6), short(float64(piece.End) / 1e6)})
			}
		}
	}
	p.points = len(p.rows)
	p.alt = fmt.Sprintf("Two charts of %d jobs on one time axis: %s above %s.", len(w.Jobs), x.name(x.this), x.name(x.reference))
	p.picture = func(int) chart.Drawing { return Compared(x.Explanation, w, x.name(x.this), x.name(x.reference)) }
	p.tables = x.tables()
	return p
}

// Compared draws the jobs of a window under two schedules, above each other on one time
// axis: a lane for each job, pale where it waits.
func Compared(e *explain.Explanation, w explain.Window, this, reference string) *chart.Gantt {
	const second = 1e6
	f := &chart.Gantt{X: "time"}
	if w.From != 0 {
		f.X = fmt.Sprintf("time after %s s", plainSeconds(float64(w.From)/second))
	}
	panels := []chart.Panel{{Name: this}, {Name: reference}}
	for lane, row := range e.Rows(w) {
		for i, pieces := range [][]explain.Piece{row.This, row.Reference} {
			p := &panels[i]
			p.Lanes = append(p.Lanes, shorten(e.NameOf(row.Job), 24))
			p.End = float64(w.To-w.From) / second
			for _, piece := range pieces {
				p.Bars = append(p.Bars, chart.Bar{Lanes: []int{lane}, Start: float64(piece.Start-w.From) / second, End: float64(piece.End-w.From) / second, Job: row.Job, Dim: piece.GPUs == 0})
			}
		}
	}
	f.Panels = panels
	return f
}
