package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/sched"
)

// sharingLarge is the number of GPUs above which a job counts as large.
const sharingLarge = 4

// sharingCell is what one policy reached on one instance.
type sharingCell struct {
	jct, makespan float64            // means, in seconds
	ratio         map[string]float64 // cost over the best bound that divides it, by objective
	bound         string             // which, under total JCT
	class         string             // of the schedule
	times         [3]sharingTimes    // of all, large and small jobs
	tasks         map[string]*sharingTimes
	all           []float64 // JCT of every job
}

// sharingTimes are means over some jobs.
type sharingTimes struct {
	jobs      int
	jct, wait float64 // seconds
}

// sharingCells are the cells of one family and one setting of the swept
// parameters, by method; each has one per instance.
type sharingCells map[string][]*sharingCell

// sharingMeasure groups the records of a run by family and swept parameters, and
// within these by method. Instances keep their order.
//
// Whether a job is large is read from a schedule in which jobs hold their gangs.
func sharingMeasure(run *record.Run, family string, params map[string]string) (sharingCells, error) {
	type cellID struct{ instance, method string }
	byID, gangs := map[string]cellID{}, map[string]map[int]int{} // gangs by instance
	cells, index := sharingCells{}, map[cellID]*sharingCell{}
	for i := range run.Ratios {
		r := &run.Ratios[i]
		if r.Family != family || !sharingSwept(r.Params, params) || !r.Cost.Valid {
			continue
		}
		id := cellID{r.Instance, r.Method}
		byID[r.CellID] = id
		c := index[id]
		if c == nil {
			c = &sharingCell{ratio: map[string]float64{}, tasks: map[string]*sharingTimes{}}
			index[id] = c
			cells[r.Method] = append(cells[r.Method], c)
		}
		c.jct, c.makespan, c.class = r.JCTMean.V, r.Makespan.V, r.Class
		if r.RatioToLowerBound.Valid {
			c.ratio[r.Objective] = r.RatioToLowerBound.V
			if r.Objective == sched.TotalJCT.String() {
				c.bound = string(r.LowerBoundMethod)
			}
		}
	}
	for i := range run.Jobs {
		j := &run.Jobs[i]
		id, known := byID[j.CellID]
		if known && index[id].class != (sched.Class{Kind: sched.M}).String() {
			if gangs[id.instance] == nil {
				gangs[id.instance] = map[int]int{}
			}
			gangs[id.instance][j.Job] = j.GPUs.V
		}
	}
	for i := range run.Jobs {
		j := &run.Jobs[i]
		id, known := byID[j.CellID]
		if !known || j.Schedule != 0 {
			continue
		}
		gang, known := gangs[id.instance][j.Job]
		if !known {
			return nil, fmt.Errorf("reproduce: no schedule of %s says how many GPUs job %d asks for", id.instance, j.Job)
		}
		index[id].add(gang, j)
	}
	return cells, nil
}

// sharingSwept reports whether a row has every one of the given parameters.
func sharingSwept(row, want map[string]string) bool {
	for key, v := range want {
		if row[key] != v {
			return false
		}
	}
	return true
}

func (c *sharingCell) add(gang int, j *record.Job) {
	c.all = append(c.all, j.JCT.V)
	kind := 2
	if gang > sharingLarge {
		kind = 1
	}
	task := string(j.Task)
	if c.tasks[task] == nil {
		c.tasks[task] = &sharingTimes{}
	}
	for _, t := range []*sharingTimes{&c.times[0], &c.times[kind], c.tasks[task]} {
		n := float64(t.jobs)
		t.jct, t.wait = (t.jct*n+j.JCT.V)/(n+1), (t.wait*n+j.Wait.V)/(n+1)
		t.jobs++
	}
}

// sharingMean is the mean over the instances in which a value exists, and its
// range.
type sharingMean struct {
	mean, low, high float64
	n               int
}

func sharingOver(cells []*sharingCell, value func(*sharingCell) (float64, bool)) sharingMean {
	m := sharingMean{low: math.Inf(1), high: math.Inf(-1)}
	for _, c := range cells {
		if v, ok := value(c); ok {
			m.mean, m.low, m.high = m.mean+v, min(m.low, v), max(m.high, v)
			m.n++
		}
	}
	m.mean /= float64(m.n)
	return m
}

// text prints the mean in a unit, with its range where there are several values.
func (m sharingMean) text(unit float64, decimals int) string {
	switch m.n {
	case 0:
		return "–"
	case 1:
		return fmt.Sprintf("%.*f", decimals, m.mean/unit)
	}
	return fmt.Sprintf("%.*f [%.*f, %.*f]", decimals, m.mean/unit, decimals, m.low/unit, decimals, m.high/unit)
}

// upper prints a mean of ratios to lower bounds, rounded up.
func (m sharingMean) upper() string {
	if m.n == 0 {
		return "–"
	}
	return fmt.Sprintf("≤%.3f", math.Ceil(m.mean*1000)/1000)
}

func sharingJCT(c *sharingCell) (float64, bool)      { return c.jct, true }
func sharingMakespan(c *sharingCell) (float64, bool) { return c.makespan, true }

// sharingRatio reads a ratio.
func sharingRatio(o sched.Objective) func(*sharingCell) (float64, bool) {
	return func(c *sharingCell) (float64, bool) {
		v, ok := c.ratio[o.String()]
		return v, ok
	}
}

// sharingBounds names the bounds that divided some policy's cost, with its class.
func sharingBounds(cells []*sharingCell) string {
	var names []string
	for _, c := range cells {
		if c.bound != "" {
			names = append(names, c.bound)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
