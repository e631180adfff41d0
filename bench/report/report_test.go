package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// randomRows returns the rows of one group: some methods on some instances,
// with every kind of denominator, and failures.
func randomRows(rng *rand.Rand) []record.Ratio {
	var rows []record.Ratio
	statuses := []record.Text{record.Proven, record.Certified, record.Claimed, ""}
	instances, methods := 1+rng.IntN(30), 1+rng.IntN(4)
	for i := range instances {
		for m := range methods {
			row := record.Ratio{CellID: fmt.Sprint(i, "-", m), Suite: "s", Instance: fmt.Sprint("i", i), Family: "f", Model: "gang", Class: "N", Jobs: 1 + rng.IntN(9), GPUs: 8,
				Objective: "makespan", Method: fmt.Sprint("m", m), Sense: record.Min, Kind: "online", Termination: "OPTIMAL"}
			if rng.IntN(6) == 0 {
				row.Termination = "CRASHED"
				rows = append(rows, row)
				continue
			}
			row.Cost = record.Some(1 + rng.ExpFloat64())
			if rng.IntN(2) == 0 {
				row.OptimumStatus, row.OptimumMethod = statuses[rng.IntN(len(statuses))], "x"
				row.Optimum = record.Some(row.Cost.V / (1 + rng.Float64()))
				row.RatioToOptimum = record.Some(row.Cost.V / row.Optimum.V)
			}
			if rng.IntN(2) == 0 {
				row.LowerBound, row.LowerBoundMethod = record.Some(row.Cost.V/(1+2*rng.Float64())), record.Text(fmt.Sprint("lb", rng.IntN(3)))
				row.LowerBoundCertified = record.Some(rng.IntN(2) == 0)
				row.RatioToLowerBound = record.Some(row.Cost.V / row.LowerBound.V)
			}
			if rng.IntN(2) == 0 {
				row.DecisionP50 = record.Some(rng.Float64())
				row.Theorem, row.TheoremHolds = "T", record.Some(rng.IntN(4) > 0)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// TestAggregates recomputes every aggregate from the rows in the plainest way.
func TestAggregates(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rows := randomRows(rng)
		proven := map[string]bool{}
		var solves []record.Solve
		for _, row := range rows {
			s := record.Solve{Instance: row.Instance, Objective: []string{"makespan", "total-jct"}[rng.IntN(2)], ProofStatus: []record.Text{"", record.Checkable}[rng.IntN(2)]}
			solves = append(solves, s)
			proven[s.Instance] = proven[s.Instance] || s.Objective == "makespan" && s.ProofStatus != ""
		}
		r := New(&record.Run{Ratios: rows, Solves: solves})
		if len(r.Groups) != 1 || len(r.Groups[0].Details) != len(rows) {
			t.Fatalf("seed %d: %d groups", seed, len(r.Groups))
		}
		failures, counted := 0, 0
		for _, p := range r.Unsolved {
			failures += p.Instances
		}
		for _, a := range r.Groups[0].Methods {
			var ratios, costs []float64
			solved, certified, checkable, holds, violated := 0, 0, 0, 0, 0
			provers := map[string]int{}
			for _, row := range rows {
				if row.Method != a.Method || !row.Cost.Valid {
					continue
				}
				solved++
				optimal := row.OptimumStatus == record.Proven || row.OptimumStatus == record.Certified
				bounded := !optimal && row.LowerBound.Valid
				switch {
				case a.Denominator == Optimum && optimal:
					ratios = append(ratios, row.RatioToOptimum.V)
					provers["x"]++
					if proven[row.Instance] {
						checkable++
					}
					if row.OptimumStatus == record.Certified {
						certified++
					}
				case a.Denominator == Bound && bounded:
					ratios = append(ratios, row.RatioToLowerBound.V)
					provers[string(row.LowerBoundMethod)]++
					if row.LowerBoundCertified.V {
						certified++
					}
				case a.Denominator == None && !optimal && !bounded:
				default:
					continue
				}
				costs = append(costs, row.Cost.V)
				if row.TheoremHolds.Valid && row.TheoremHolds.V {
					holds++
				} else if row.TheoremHolds.Valid {
					violated++
				}
			}
			counted += a.Count
			if a.Solved != solved || a.Count != len(costs) || a.Certified != certified || a.Checkable != checkable {
				t.Errorf("seed %d: %s: %+v, want solved %d, count %d, certified %d, checkable %d", seed, a.Method, a, solved, len(costs), certified, checkable)
			}
			for _, p := range a.ProvenBy {
				if provers[p.Name] != p.N {
					t.Errorf("seed %d: %s: %s counted %d times, want %d", seed, a.Method, p.Name, p.N, provers[p.Name])
				}
				delete(provers, p.Name)
			}
			if len(provers) > 0 {
				t.Errorf("seed %d: %s: %v not named", seed, a.Method, provers)
			}
			if th := a.Theorems; holds+violated > 0 && (len(th) != 1 || th[0] != Theorem{"T", holds, violated}) {
				t.Errorf("seed %d: %s: %+v, want %d, %d", seed, a.Method, th, holds, violated)
			}
			if len(ratios) == 0 {
				if a.GeoMean.Valid || a.Median.Valid || a.P95.Valid || a.Worst.Valid {
					t.Errorf("seed %d: %s: a ratio without a denominator: %+v", seed, a.Method, a)
				}
			} else {
				if a.Median.V != naivePercentile(ratios, 0.50) || a.P95.V != naivePercentile(ratios, 0.95) || a.Worst.V != naivePercentile(ratios, 1) {
					t.Errorf("seed %d: %s: percentiles %+v of %v", seed, a.Method, a, ratios)
				}
				product := 1.0
				for _, v := range ratios {
					product *= v
				}
				if want := math.Pow(product, 1/float64(len(ratios))); math.Abs(a.GeoMean.V-want) > 1e-12*want {
					t.Errorf("seed %d: %s: geometric mean %v, want %v", seed, a.Method, a.GeoMean.V, want)
				}
			}
			if len(costs) > 0 {
				sum := 0.0
				for _, v := range costs {
					sum += v
				}
				if want := sum / float64(len(costs)); math.Abs(a.MeanCost.V-want) > 1e-12*want {
					t.Errorf("seed %d: %s: mean cost %v, want %v", seed, a.Method, a.MeanCost.V, want)
				}
			}
		}
		if counted+failures != len(rows) {
			t.Errorf("seed %d: %d rows counted and %d failures, of %d rows", seed, counted, failures, len(rows))
		}
	}
}

// naivePercentile is the definition of nearest rank: the least value that at
// least p of all values do not exceed.
func naivePercentile(values []float64, p float64) float64 {
	best := math.Inf(1)
	for _, v := range values {
		below := 0
		for _, w := range values {
			if w <= v {
				below++
			}
		}
		if float64(below) >= p*float64(len(values))-1e-9 && v < best {
			best = v
		}
	}
	return best
}

// The numbers do not depend on the order of the rows.
func TestOrderOfRows(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		rows := randomRows(rng)
		index := func(r *Report) map[string]Aggregate {
			m := map[string]Aggregate{}
			for _, a := range r.Groups[0].Methods {
				provers := map[string]int{}
				for _, p := range a.ProvenBy {
					provers[p.Name] = p.N
				}
				a.ProvenBy = nil
				m[fmt.Sprint(a.Method, a.Denominator, provers)] = a
			}
			return m
		}
		before := index(New(&record.Run{Ratios: rows}))
		rng.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		if after := index(New(&record.Run{Ratios: rows})); !reflect.DeepEqual(before, after) {
			t.Errorf("seed %d: before\n%v\nafter\n%v", seed, before, after)
		}
	}
}

func TestContradiction(t *testing.T) {
	run := sampleRun()
	run.Ratios[2].RatioToOptimum = record.Some(0.9999999999999999)
	r := New(run)
	want := Problem{"small", "total-jct", "sjf", "a verified schedule is better than the proven optimum of exhaustive", 1, "small-00"}
	if len(r.Contradictions) != 1 || r.Contradictions[0] != want {
		t.Errorf("%+v", r.Contradictions)
	}
	for _, f := range []Format{Table, Markdown, LaTeX} {
		var b bytes.Buffer
		if err := r.Write(&b, Options{Format: f}); err != nil || !strings.Contains(b.String(), "CONTRADICTION") {
			t.Errorf("%s: %v\n%s", f, err, b.String())
		}
	}
}

// A claimed optimum is no denominator, however good it looks.
func TestClaimedOptimum(t *testing.T) {
	run := sampleRun()
	run.Ratios[0].OptimumStatus = record.Claimed
	d := New(run).Groups[0].Details[0]
	if d.Denominator != None || d.Ratio.Valid || d.DenominatorValue.Valid || !d.Cost.Valid {
		t.Errorf("%+v", d)
	}
}

// The report of what was read back is that of what was written.
func TestFromDisk(t *testing.T) {
	run := sampleRun()
	for i := range run.Ratios {
		run.Ratios[i].InstanceSHA256 = "00"
	}
	dir := t.TempDir()
	if err := record.Write(dir, run); err != nil {
		t.Fatal(err)
	}
	read, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := New(read), New(run); !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwrote\n%+v", got, want)
	}
}

// No line of a table is wider than the terminal, from 66 columns on.
func TestWidth(t *testing.T) {
	r := New(sampleRun())
	for width := 66; width <= 220; width++ {
		var b bytes.Buffer
		if err := r.Write(&b, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("width %d: a line of %d: %s", width, n, line)
			}
		}
		for _, must := range []string{"exhaustive", "fifo", "sjf", "las", "≤2.778", "time limit", "1.400", "61 s on 2 workers"} {
			if !strings.Contains(b.String(), must) {
				t.Errorf("width %d: %q is missing", width, must)
			}
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("width %d: escape codes without colour", width)
		}
	}
}

// Every format holds every aggregate.
func TestFormatsAgree(t *testing.T) {
	r := New(sampleRun())
	rows := 0
	for _, g := range r.Groups {
		rows += len(g.Methods)
	}
	print := func(o Options) string {
		var b bytes.Buffer
		if err := r.Write(&b, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}

	var back Report
	if err := json.Unmarshal([]byte(print(Options{Format: JSON})), &back); err != nil || !reflect.DeepEqual(&back, r) {
		t.Errorf("JSON: %v\n%+v\nwant\n%+v", err, &back, r)
	}

	records, err := csv.NewReader(strings.NewReader(print(Options{Format: CSV}))).ReadAll()
	if err != nil || len(records) != rows+1 {
		t.Fatalf("CSV: %d records, %v, want %d", len(records), err, rows+1)
	}
	column := map[string]int{}
	for i, name := range records[0] {
		column[name] = i
	}
	i := 1
	for _, g := range r.Groups {
		for _, a := range g.Methods {
			rec := records[i]
			worst, err := strconv.ParseFloat(rec[column["worst"]], 64)
			if rec[column["method"]] != a.Method || (err == nil) != a.Worst.Valid || worst != a.Worst.V || rec[column["count"]] != strconv.Itoa(a.Count) {
				t.Errorf("CSV: record %q, want %+v", rec, a)
			}
			i++
		}
	}
	details, err := csv.NewReader(strings.NewReader(print(Options{Format: CSV, Part: Instances}))).ReadAll()
	if err != nil || len(details) != len(sampleRun().Ratios)+1 {
		t.Errorf("CSV of instances: %d records, %v", len(details), err)
	}

	tex := print(Options{Format: LaTeX, Part: Summaries})
	body, found, columns := false, 0, 0
	for line := range strings.Lines(tex) {
		switch line {
		case "\\toprule\n":
			columns = -1
		case "\\midrule\n":
			body = true
		case "\\bottomrule\n":
			body = false
		}
		if strings.HasSuffix(line, " \\\\\n") {
			n := strings.Count(strings.ReplaceAll(line, `\&`, ""), "&")
			if columns < 0 {
				columns = n
			}
			if n != columns {
				t.Errorf("LaTeX: %d separators for %d columns: %s", n, columns+1, line)
			}
			if body {
				found++
			}
		}
		if strings.ContainsAny(line, "≤–·µ") && !strings.HasPrefix(line, "%") {
			t.Errorf("LaTeX: not escaped: %s", line)
		}
	}
	if found != rows {
		t.Errorf("LaTeX: %d rows, want %d", found, rows)
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%s: %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("yaml"); err == nil || !strings.Contains(err.Error(), "table md latex csv json html") {
		t.Errorf("%v", err)
	}
	if err := New(&record.Run{}).Write(&bytes.Buffer{}, Options{Format: "yaml"}); err == nil {
		t.Error("an unknown format was printed")
	}
}
