package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
)

// primalDualCurve is the mean of one method over the trials at each place on an
// axis.
type primalDualCurve struct {
	name   string
	class  string
	x      []float64
	mean   []float64
	ratio  []float64 // mean of the ratios to the best proven bound; 0 where one is missing
	trials []int
}

// primalDualSelect says which rows a curve is made of, and where they are.
type primalDualSelect struct {
	families func(string) bool
	ring     string // "true" or "false"
	method   string
	x, y     func(*record.Ratio) (float64, bool)
}

// curve collects the rows.
func (s *primalDualSelect) curve(run *record.Run, name string) primalDualCurve {
	type place struct {
		sum, ratios  float64
		trials, some int
	}
	places := map[float64]*place{}
	c := primalDualCurve{name: name}
	for i := range run.Ratios {
		row := &run.Ratios[i]
		if row.Method != s.method || row.Params["ring"] != s.ring || !s.families(row.Family) {
			continue
		}
		x, okX := s.x(row)
		y, okY := s.y(row)
		if !okX || !okY {
			continue
		}
		c.class = row.Class
		if places[x] == nil {
			places[x] = &place{}
			c.x = append(c.x, x)
		}
		p := places[x]
		p.sum, p.trials = p.sum+y, p.trials+1
		if row.RatioToLowerBound.Valid {
			p.ratios, p.some = p.ratios+row.RatioToLowerBound.V, p.some+1
		}
	}
	slices.Sort(c.x)
	for _, x := range c.x {
		p := places[x]
		c.mean, c.trials = append(c.mean, p.sum/float64(p.trials)), append(c.trials, p.trials)
		ratio := 0.0
		if p.some == p.trials {
			ratio = p.ratios / float64(p.some)
		}
		c.ratio = append(c.ratio, ratio)
	}
	return c
}

// at returns the mean at a place.
func (c *primalDualCurve) at(x float64) (float64, bool) {
	i, ok := slices.BinarySearch(c.x, x)
	if !ok {
		return 0, false
	}
	return c.mean[i], true
}

// The axes. Costs are in millions of weight times hours, weights in thousands.
func primalDualJobs(r *record.Ratio) (float64, bool)    { return float64(r.Jobs), true }
func primalDualServers(r *record.Ratio) (float64, bool) { return float64(r.Servers.V), r.Servers.Valid }
func primalDualCost(r *record.Ratio) (float64, bool)    { return r.Cost.V / 3.6e9, r.Cost.Valid }
func primalDualDone(r *record.Ratio) (float64, bool)    { return r.Cost.V / 1e3, r.Cost.Valid }
func primalDualCPU(r *record.Ratio) (float64, bool)     { return r.CPU.V, r.CPU.Valid }

// primalDualTable lays curves out, a row each, with the mean ratio to the best
// proven bound beside the mean if bounded.
func primalDualTable(title, x string, digits int, bounded bool, curves []primalDualCurve) Table {
	t := Table{Title: title, Columns: []string{x, "class"}}
	var places []float64
	for _, c := range curves {
		places = append(places, c.x...)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for _, p := range places {
		t.Columns = append(t.Columns, strconv.FormatFloat(p, 'g', -1, 64))
		if bounded {
			t.Columns = append(t.Columns, "/ bound")
		}
	}
	for _, c := range curves {
		row := []string{c.name, c.class}
		for _, p := range places {
			i, ok := slices.BinarySearch(c.x, p)
			value, ratio := "–", "–"
			if ok {
				value = strconv.FormatFloat(c.mean[i], 'f', digits, 64)
				if c.ratio[i] > 0 {
					ratio = fmt.Sprintf("≤%.2f", math.Ceil(100*c.ratio[i])/100)
				}
			}
			row = append(row, value)
			if bounded {
				row = append(row, ratio)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func primalDualFigure(title, x, y string, curves []primalDualCurve) chart.Figure {
	f := chart.Figure{Title: title, X: x, Y: y}
	for _, c := range curves {
		f.Lines = append(f.Lines, chart.Line{Name: c.name, X: c.x, Y: c.mean})
	}
	return f
}

// primalDualTrend says how a curve goes from end to end.
func primalDualTrend(c *primalDualCurve, what string) []string {
	if len(c.x) < 2 {
		return nil
	}
	last := len(c.x) - 1
	if c.mean[0] == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s, %s %g to %g: %+.0f %%", c.name, what, c.x[0], c.x[last], 100*(c.mean[last]/c.mean[0]-1))}
}
