package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/sched"
)

// workloadTitle is what the heading of the table of workloads begins with.
const workloadTitle = "Workload"

// workloadColumns are the statistics that say what a scheduler is made to schedule.
func workloadColumns() []string {
	return []string{"instances", "jobs", "on one GPU", "mean gang", "mean length, min", "between arrivals, s", "offered load", "of groups seen before"}
}

// publishedWorkload is what the papers' texts say of the jobs of a suite, in
// workloadColumns; absent where they say nothing.
//
// Sources: A-SRPT, Sections IV, V-A and V-B ("over 70% single-GPU jobs", "nearly 65%" recurrent,
// of a trace); Lazer, Table 1 and Section 5.1; SJF-BSBF, Section VI-A.
func publishedWorkload(suite string) []string {
	row := func(jobs, single, length, between, seen string) []string {
		return []string{absent, jobs, single, absent, length, between, absent, seen}
	}
	switch suite {
	case "asrpt-fig5":
		return row("75", "over 70 %", absent, absent, "65 %")
	case "asrpt-fig6":
		return row("37,500 to 150,000", "over 70 %", absent, absent, "65 %")
	case "asrpt-fig7":
		return row("75,000", "80 to 0 %", absent, absent, "65 %")
	case "asrpt-fig8":
		return row("75,000", "0 %", absent, absent, "65 %")
	case "asrpt-fig9", "asrpt-loads":
		return row("75,000", "over 70 %", absent, absent, "65 %")
	case "lazer-earth", "lazer-loads":
		return row("427,000", absent, "59.5", "39", absent)
	case "lazer-saturn":
		return row("698,000", absent, "72.2", "80", absent)
	case "lazer-uranus":
		return row("329,000", absent, "128.1", "243", absent)
	case "lazer-testbed":
		return row("100", absent, "59.5", "39", absent)
	case "sjf-bsbf-physical":
		return row("30", absent, absent, absent, absent)
	case "sjf-bsbf-240", "sjf-bsbf-xi":
		return row("240", absent, absent, absent, absent)
	case "sjf-bsbf-480":
		return row("480", absent, absent, absent, absent)
	case "sjf-bsbf-load":
		return row("120 to 480", absent, absent, absent, absent)
	}
	return nil
}

// Workload lays out what the instances of an item have of what schedulers are sensitive to,
// by suite, family and swept values, beside what the paper says. Lengths are those at the
// best placement, or as trained where there is but one. No table where no job has a gang, as
// in the elastic model.
func (i *Item) Workload(in Input) (Table, bool) {
	t := Table{Title: workloadTitle + ", beside what the paper says of its own", Columns: append([]string{"jobs of"}, workloadColumns()...)}
	for k, run := range in.Runs {
		rows := workloads(run)
		if len(rows) == 0 {
			continue
		}
		for _, w := range rows {
			t.Rows = append(t.Rows, append([]string{i.Suites[k] + ", " + w.name}, w.cells()...))
		}
		if paper := publishedWorkload(i.Suites[k]); paper != nil {
			t.Rows = append(t.Rows, append([]string{i.Suites[k] + ", the paper's text"}, paper...))
		}
	}
	return t, len(t.Rows) > 0
}

// workload is what is counted of the instances of one family and one point of a sweep.
type workload struct {
	name               string
	instances          int
	jobs, single, gang float64
	length             float64 // s, all jobs together
	span, gaps         float64 // s between the first and the last release, and how often one follows another
	load, loads        float64
	asked, seen        float64
}

func (w *workload) cells() []string {
	return []string{fmt.Sprint(w.instances), number(w.jobs/float64(w.instances), 0), percent(w.single / w.jobs), number(w.gang/w.jobs, 1), number(w.length/w.jobs/60, 1),
		number(w.span/w.gaps, 1), number(w.load/w.loads, 2), percent(w.seen / w.asked)}
}

// workloads counts the jobs of every instance once, in the first of its schedules that
// changes no gang.
func workloads(run *record.Run) []*workload {
	malleable := sched.Class{Kind: sched.M}.String()
	byName, byCell := map[string]*workload{}, map[string]*workload{}
	var list []*workload
	counted, told := map[string]bool{}, map[string]bool{} // instances whose jobs and predictions are
	asked := map[string]*workload{}                       // by cell
	for i := range run.Ratios {
		r := &run.Ratios[i]
		if !r.Cost.Valid || r.Class == malleable {
			continue
		}
		name := workloadName(r)
		w := byName[name]
		if w == nil {
			w = &workload{name: name}
			byName[name], list = w, append(list, w)
		}
		if r.UnseenShare.Valid && !told[r.Instance] {
			told[r.Instance], asked[r.CellID] = true, w
		}
		if counted[r.Instance] {
			continue
		}
		counted[r.Instance], byCell[r.CellID] = true, w
		w.instances++
		if r.OfferedLoad.Valid {
			w.load, w.loads = w.load+r.OfferedLoad.V, w.loads+1
		}
	}
	first, last := map[string]float64{}, map[string]float64{}
	for i := range run.Jobs {
		j := &run.Jobs[i]
		w := byCell[j.CellID]
		if w == nil || j.Schedule != 0 || !j.GPUs.Valid {
			continue
		}
		if low, ok := first[j.CellID]; ok {
			w.gaps++
			first[j.CellID], last[j.CellID] = min(low, j.Release), max(last[j.CellID], j.Release)
		} else {
			first[j.CellID], last[j.CellID] = j.Release, j.Release
		}
		w.jobs++
		w.gang += float64(j.GPUs.V)
		if j.GPUs.V == 1 {
			w.single++
		}
		if j.IterationBest.Valid && j.Iters.Valid {
			w.length += float64(j.Iters.V) * j.IterationBest.V
		} else {
			w.length += j.Train.V
		}
	}
	for id, low := range first {
		byCell[id].span += last[id] - low
	}
	for i := range run.Predictions {
		p := &run.Predictions[i]
		if w := asked[p.CellID]; w != nil {
			w.asked++
			if p.History > 0 {
				w.seen++
			}
		}
	}
	return slices.DeleteFunc(list, func(w *workload) bool { return w.jobs == 0 })
}

// workloadName is a row's family with its swept values.
func workloadName(r *record.Ratio) string {
	var values []string
	for key, v := range r.Params {
		values = append(values, key+" "+v)
	}
	slices.Sort(values)
	return strings.Join(append([]string{r.Family}, values...), ", ")
}
