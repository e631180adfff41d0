package reproduce

import (
	"context"
	"fmt"
	"slices"

	"yardstick/sched"
)

// sharingTable2 lays out Table II, a table per family.
func sharingTable2(_ context.Context, in Input) (*Output, error) {
	out := &Output{}
	published := sharingTable2Published()
	for _, family := range sharingFamilies() {
		cells, err := sharingMeasure(in.Runs[0], family.name, nil)
		if err != nil {
			return nil, err
		}
		table := Table{Title: "Seconds: " + family.title, Columns: []string{"policy", "makespan", "paper", "average JCT", "paper", "class", "makespan / bound", "JCT / bound", "bound"}}
		for _, p := range sharingPolicies() {
			list := cells[p.method]
			if len(list) == 0 {
				continue
			}
			paper, known := published[p.name]
			if !known {
				paper = [2]string{"–", "–"}
			}
			table.Rows = append(table.Rows, []string{p.name, sharingOver(list, sharingMakespan).text(1, 0), paper[0], sharingOver(list, sharingJCT).text(1, 1), paper[1], list[0].class,
				sharingOver(list, sharingRatio(sched.Makespan)).upper(), sharingOver(list, sharingRatio(sched.TotalJCT)).upper(), sharingBounds(list)})
		}
		if len(table.Rows) > 0 {
			out.Tables = append(out.Tables, table)
		}
		if family.name == "jobs" {
			out.Notes = append(out.Notes, sharingShape(cells)...)
			out.Numbers = []Number{sharingLess(cells, "Tiresias", "JCT", "27", sharingJCT), sharingLess(cells, "SJF-FFS", "JCT", "9", sharingJCT)}
		}
	}
	return out, nil
}

// sharingLess is by how much less a mean is under SJF-BSBF than under another policy, in percent.
func sharingLess(cells sharingCells, policy, metric, theirs string, value func(*sharingCell) (float64, bool)) Number {
	list := sharingPolicies()
	other := list[slices.IndexFunc(list, func(p sharingPolicy) bool { return p.name == policy })].method
	return Number{fmt.Sprintf("mean %s of SJF-BSBF below that of %s, %%", metric, policy), theirs, 100 * (1 - sharingOver(cells["sjf-bsbf"], value).mean/sharingOver(cells[other], value).mean)}
}

func sharingTable3(_ context.Context, in Input) (*Output, error) {
	return sharingSizes(in, sharingTable3Published())
}

func sharingTable4(_ context.Context, in Input) (*Output, error) {
	out, err := sharingSizes(in, sharingTable4Published())
	if err != nil {
		return nil, err
	}
	cells, err := sharingMeasure(in.Runs[0], sharingFamilies()[0].name, nil)
	if err != nil {
		return nil, err
	}
	out.Numbers = []Number{sharingLess(cells, "SJF-FFS", "JCT", "17", sharingJCT),
		sharingLess(cells, "SJF-FFS", "queueing time", "5.5", func(c *sharingCell) (float64, bool) { return c.times[0].wait, true }),
		{"mean JCT of Pollux over that of SJF-BSBF", "3", sharingOver(cells["pollux-like"], sharingJCT).mean / sharingOver(cells["sjf-bsbf"], sharingJCT).mean}}
	return out, nil
}

// sharingSizes lays out Tables III and IV, and besides what divides the total
// JCT.
func sharingSizes(in Input, published map[string][6]string) (*Output, error) {
	out := &Output{}
	for _, family := range sharingFamilies() {
		cells, err := sharingMeasure(in.Runs[0], family.name, nil)
		if err != nil {
			return nil, err
		}
		table := Table{Title: "Hours: " + family.title, Columns: []string{"metric, policy", "all jobs", "paper", "large jobs", "paper", "small jobs", "paper"}}
		ratios := Table{Title: "Total JCT over the best proven bound: " + family.title, Columns: []string{"policy", "class", "mean", "most", "bounds"}}
		for m, metric := range []string{"average JCT", "average queueing time"} {
			for _, p := range sharingPolicies() {
				list := cells[p.method]
				if len(list) == 0 {
					continue
				}
				row := []string{metric + ", " + p.name}
				for k := range 3 {
					paper := "–"
					if known, ok := published[p.name]; ok {
						paper = known[3*m+k]
					}
					row = append(row, sharingOver(list, func(c *sharingCell) (float64, bool) {
						t := c.times[k]
						return []float64{t.jct, t.wait}[m], t.jobs > 0
					}).text(3600, 2), paper)
				}
				table.Rows = append(table.Rows, row)
				if m == 0 {
					r := sharingOver(list, sharingRatio(sched.TotalJCT))
					most := sharingMean{mean: r.high, n: r.n}
					ratios.Rows = append(ratios.Rows, []string{p.name, list[0].class, r.upper(), most.upper(), sharingBounds(list)})
				}
			}
		}
		if len(table.Rows) > 0 {
			out.Tables = append(out.Tables, table, ratios)
		}
		if family.name == "jobs" {
			out.Notes = append(out.Notes, sharingShape(cells)...)
		}
	}
	return out, nil
}

// sharingShape compares average JCT of SJF-BSBF with that of the others, as the
// paper's text does.
func sharingShape(cells sharingCells) []string {
	own := sharingOver(cells["sjf-bsbf"], sharingJCT)
	var notes []string
	for _, p := range sharingPolicies() {
		other := sharingOver(cells[p.method], sharingJCT)
		if p.method == "sjf-bsbf" || other.n == 0 || own.n == 0 {
			continue
		}
		wins := 0
		for i, c := range cells[p.method] {
			if i < own.n && cells["sjf-bsbf"][i].jct < c.jct {
				wins++
			}
		}
		notes = append(notes, fmt.Sprintf("average JCT of SJF-BSBF against %s: %+.0f %%, less on %d of %d windows", p.name, 100*(own.mean/other.mean-1), wins, other.n))
	}
	return notes
}
