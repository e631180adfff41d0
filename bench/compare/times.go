package compare

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"yardstick/bench/record"
)

// TimeRow compares one kind of time of one method over the cells of a family
// that both sides have.
type TimeRow struct {
	Family string  `json:"family"`
	Method string  `json:"method"`
	What   string  `json:"what"`
	Cells  int     `json:"cells"`
	A      float64 `json:"a_median_s"`
	B      float64 `json:"b_median_s"`
	Ratio  float64 `json:"ratio_geo_mean"` // of B over A, over the cells; of the geomean row, over the rows
	P      float64 `json:"p"`              // of the signed-rank test over the cells
	Mark   string  `json:"mark"`           // "~", "+" (slower) or "-" (faster)
}

// Overall is the method of the row that sums up the others of its kind.
const Overall = "geomean"

// CellTime compares one kind of time of one cell that was run several times.
type CellTime struct {
	Key
	What  string    `json:"what"`
	A     []float64 `json:"a_s"`
	B     []float64 `json:"b_s"`
	MedA  float64   `json:"a_median_s"`
	MedB  float64   `json:"b_median_s"`
	P     float64   `json:"p"`
	Delta string    `json:"delta"` // "~" or a percentage, as benchstat prints it
	Notes []string  `json:"notes,omitempty"`
}

// kinds are the times that rows of ratios.arrow have.
func kinds() []struct {
	name string
	of   func(*record.Ratio) record.Opt[float64]
} {
	return []struct {
		name string
		of   func(*record.Ratio) record.Opt[float64]
	}{
		{"cell wall_s", func(r *record.Ratio) record.Opt[float64] { return r.Wall }},
		{"cell cpu_s", func(r *record.Ratio) record.Opt[float64] { return r.CPU }},
		{"decision_p50_s", func(r *record.Ratio) record.Opt[float64] { return r.DecisionP50 }},
	}
}

// times compares every kind of time. A cell has one time, whatever the number
// of its objectives: the row of the first objective tells it. Cells that failed
// on a side have none.
func times(a, b []*record.Run) ([]TimeRow, []CellTime) {
	type group struct{ family, method string }
	var rows []TimeRow
	var cells []CellTime
	repeated := len(a) > 1 || len(b) > 1
	for _, kind := range kinds() {
		first, second := measured(a, kind.of), measured(b, kind.of)
		index := map[group]int{}
		var members [][]CellTime
		var groups []group
		for _, k := range first.keys {
			if second.values[k] == nil {
				continue
			}
			t := cellTime(k, kind.name, first.values[k], second.values[k])
			g := group{k.Family, k.Method}
			at, there := index[g]
			if !there {
				at = len(groups)
				index[g] = at
				groups, members = append(groups, g), append(members, nil)
			}
			members[at] = append(members[at], t)
			if repeated {
				cells = append(cells, t)
			}
		}
		logs := 0.0
		for i, g := range groups {
			row := timeRow(members[i])
			row.Family, row.Method, row.What = g.family, g.method, kind.name
			rows = append(rows, row)
			logs += math.Log(row.Ratio)
		}
		if len(groups) > 0 {
			rows = append(rows, TimeRow{Method: Overall, What: kind.name, Cells: len(groups), Ratio: math.Exp(logs / float64(len(groups)))})
		}
	}
	return rows, cells
}

// samples are the times of each cell over the runs of a side.
type samples struct {
	values map[Key][]float64
	keys   []Key
}

func measured(runs []*record.Run, of func(*record.Ratio) record.Opt[float64]) samples {
	s := samples{values: map[Key][]float64{}}
	for _, run := range runs {
		seen := map[string]bool{} // cells of this run
		for i := range run.Ratios {
			r := &run.Ratios[i]
			v := of(r)
			if seen[r.CellID] || !r.Cost.Valid || !v.Valid || v.V <= 0 {
				continue
			}
			seen[r.CellID] = true
			k := Key{Family: r.Family, Params: paramText(r, run.Manifest.Params), Instance: r.Instance, Method: r.Method}
			if s.values[k] == nil {
				s.keys = append(s.keys, k)
			}
			s.values[k] = append(s.values[k], v.V)
		}
	}
	return s
}

// cellTime compares the times of one cell as benchstat compares a benchmark's.
func cellTime(k Key, what string, a, b []float64) CellTime {
	thresholds := benchmath.DefaultThresholds
	thresholds.CompareAlpha = Alpha
	x, y := benchmath.NewSample(slices.Clone(a), &thresholds), benchmath.NewSample(slices.Clone(b), &thresholds)
	t := CellTime{Key: k, What: what, A: x.Values, B: y.Values,
		MedA: benchmath.AssumeNothing.Summary(x, 0.95).Center, MedB: benchmath.AssumeNothing.Summary(y, 0.95).Center}
	test := benchmath.AssumeNothing.Compare(x, y)
	t.P, t.Delta = test.P, test.FormatDelta(t.MedA, t.MedB)
	for _, w := range test.Warnings {
		t.Notes = append(t.Notes, w.Error())
	}
	return t
}

// timeRow sums up cells by their medians.
func timeRow(cells []CellTime) TimeRow {
	row := TimeRow{Cells: len(cells)}
	var a, b, logs []float64
	sum := 0.0
	for _, c := range cells {
		a, b = append(a, c.MedA), append(b, c.MedB)
		log := math.Log(c.MedB / c.MedA)
		logs = append(logs, log)
		sum += log
	}
	thresholds := benchmath.DefaultThresholds
	row.A = benchmath.AssumeNothing.Summary(benchmath.NewSample(a, &thresholds), 0.95).Center
	row.B = benchmath.AssumeNothing.Summary(benchmath.NewSample(b, &thresholds), 0.95).Center
	row.Ratio = math.Exp(sum / float64(len(cells)))
	row.P, _ = SignedRank(logs)
	switch {
	case row.P >= Alpha:
		row.Mark = "~"
	case row.Ratio > 1:
		row.Mark = "+"
	default:
		row.Mark = "-"
	}
	return row
}
