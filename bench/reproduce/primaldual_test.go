package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// primalDualRun is a hand-made run: in trial k the cost is 3.6e9·(jobs·rank + k)
// for every method, whose rank is its place in the list, and the ratio rank + 1.
func primalDualRun() *record.Run {
	run := &record.Run{}
	add := func(family string, jobs, servers int, method, class string, rank int) {
		for _, ring := range []string{"false", "true"} {
			for k := range 3 {
				row := record.Ratio{Instance: fmt.Sprint(family, k), Family: family, Jobs: jobs, Servers: record.Some(servers), Method: method, Class: class, Params: map[string]string{"ring": ring},
					Cost: record.Some(3.6e9 * float64(jobs*rank+k)), RatioToLowerBound: record.Some(float64(rank + 1)), CPU: record.Some(float64(jobs) / 10)}
				if strings.HasPrefix(family, "weight") {
					row.Cost = record.Some(1e3 * float64(jobs*rank+k))
				}
				run.Ratios = append(run.Ratios, row)
			}
		}
	}
	for _, jobs := range []int{20, 100} {
		for i, p := range primalDualSchedulers() {
			add(fmt.Sprint("jobs-", jobs), jobs, 150, p.method, "Es", i+1)
		}
		for i, p := range primalDualWeighers() {
			add(fmt.Sprint("weight-jobs-", jobs), jobs, 150, p.method, "Es", i+1)
		}
	}
	add("servers-50", 100, 50, "primal-dual", "Es", 1)
	add("type-3", 100, 150, "primal-dual", "Es", 2)
	add("workers-5", 100, 150, "primal-dual", "Es", 4)
	add("weight-half-50", 50, 50, "a-maxweight", "Es", 1)
	for i, f := range []string{"", "(factor=100)", "(factor=10000)", "(factor=1000000)"} {
		add("factor", 100, 150, "primal-dual"+f, "Es", i+1)
		add("weight-factor", 100, 150, "a-maxweight"+f, "Es", 4-i)
	}
	return run
}

func primalDualMade(t *testing.T, name string) *Output {
	t.Helper()
	item, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := item.Make(context.Background(), Input{Runs: []*record.Run{primalDualRun()}, Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Figures {
		if _, err := out.Figures[i].SVG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, table := range out.Tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: %d cells in %d columns: %v", name, len(row), len(table.Columns), row)
			}
		}
	}
	return out
}

// TestPrimalDualTables: values are means over trials, in the row of their method
// and the column of their place; other families and architectures do not mix in.
func TestPrimalDualTables(t *testing.T) {
	row := func(o *Output, table, i int) string { return strings.Join(o.Tables[table].Rows[i], "|") }
	o := primalDualMade(t, "primal-dual-fig2")
	if got := strings.Join(o.Tables[0].Columns, "|"); got != "jobs|class|20|/ bound|100|/ bound" {
		t.Error(got)
	}
	if got := row(o, 0, 3); got != "FIFO|Es|81.00|≤5.00|401.00|≤5.00" {
		t.Error(got)
	}
	if got := strings.Join(o.Notes, "\n"); !strings.Contains(got, "A_online against FIFO: -75 to -74 %") || !strings.Contains(got, "A_online, jobs 20 to 100: +381 %") {
		t.Error(got)
	}
	if got := row(primalDualMade(t, "primal-dual-fig6"), 0, 0); got != "A_online|Es|101.00|≤2.00|101.00|≤2.00" {
		t.Error(got)
	}
	if got := row(primalDualMade(t, "primal-dual-fig6"), 0, 1); got != "A_online, fill and shift|Es|–|–|201.00|≤3.00" {
		t.Error(got)
	}
	o = primalDualMade(t, "primal-dual-fig4")
	if got := strings.Join(o.Tables[0].Columns, "|"); got != "factor of F|class|1|/ bound|100|/ bound|10000|/ bound|1e+06|/ bound" {
		t.Error(got)
	}
	if got := row(o, 0, 1); got != "Ring-AllReduce|Es|101.000|≤2.00|201.000|≤3.00|301.000|≤4.00|401.000|≤5.00" {
		t.Error(got)
	}
	if got := row(primalDualMade(t, "primal-dual-fig11"), 0, 0); got != "parameter servers|Es|401.000|≤5.00|301.000|≤4.00|201.000|≤3.00|101.000|≤2.00" {
		t.Error(got)
	}
	o = primalDualMade(t, "primal-dual-fig9")
	if got := row(o, 0, 1) + strings.Join(o.Notes, ""); !strings.HasPrefix(got, "Ring-AllReduce|Es|101.00|≤2.00|201.00|≤3.00") || !strings.Contains(got, "parameter servers: a single type costs +99 to +99 %") {
		t.Error(got)
	}
	o = primalDualMade(t, "primal-dual-fig10")
	if got := strings.Join(o.Tables[0].Columns, "|") + row(o, 0, 0); got != "most workers of a job|class|5|/ bound|50|/ boundparameter servers|Es|401.00|≤5.00|101.00|≤2.00" {
		t.Error(got)
	}
	if got := row(primalDualMade(t, "primal-dual-fig8"), 1, 2); got != "greedy by density|Es|61.0|≤4.00|301.0|≤4.00" {
		t.Error(got)
	}
	o = primalDualMade(t, "primal-dual-fig12")
	if got := row(o, 0, 0) + row(o, 0, 3); got != "parameter servers, 50 jobs|Es|51.0|≤2.00|–|–Ring-AllReduce, 100 jobs|Es|–|–|101.0|≤2.00" {
		t.Error(got)
	}
	if got := strings.Join(primalDualMade(t, "primal-dual-fig7").Notes, ""); got != "at most 10.0 s; the paper: less than 120 s" {
		t.Error(got)
	}
}

// TestPrimalDualOrderings: claims of the paper are stated with the side that it says is less
// first; a rank of 1 to 7 is what the schedulers cost.
func TestPrimalDualOrderings(t *testing.T) {
	for item, want := range map[string]Ordering{
		"primal-dual-fig2":  {"jobs 20: A_online below Tiresias by 30 %", 21, 0.7 * 141},
		"primal-dual-fig5":  {"jobs 100: A_online, literal below DRF", 301, 501},
		"primal-dual-fig3":  {"A_online: less with servers 50 than with 150", 101, 101},
		"primal-dual-fig4":  {"parameter servers: less with F times 1 than with 1e+06", 101, 401},
		"primal-dual-fig7":  {"A_online, Ring-AllReduce: below 120 s", 10, 120},
		"primal-dual-fig8":  {"Ring-AllReduce, jobs 20: more weight by A_maxweight than by density", 61, 21},
		"primal-dual-fig9":  {"parameter servers: the choice of all types below the best single one", 101, 201},
		"primal-dual-fig10": {"Ring-AllReduce: less with workers 50 than with 5", 101, 401},
		"primal-dual-fig11": {"parameter servers: less with F times 1e+06 than with 1", 101, 401},
	} {
		out := primalDualMade(t, item)
		i := slices.IndexFunc(out.Orderings, func(o Ordering) bool { return o.Claim == want.Claim })
		if i < 0 || math.Abs(out.Orderings[i].Lower-want.Lower) > 1e-9 || math.Abs(out.Orderings[i].Upper-want.Upper) > 1e-9 {
			t.Errorf("%s: %v, want %v", item, out.Orderings, want)
		}
	}
}

// TestPrimalDualNeedsRows: records of another suite are refused.
func TestPrimalDualNeedsRows(t *testing.T) {
	for _, item := range primalDual() {
		if _, err := item.Make(context.Background(), Input{Runs: []*record.Run{{}}}); !errors.Is(err, errNoRows) {
			t.Errorf("%s: %v", item.Name, err)
		}
	}
}
