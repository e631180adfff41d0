package record

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDigestIgnoresOrder(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	run := randomRun(seed, 40)
	want := mustDigest(t, run)
	for range 20 {
		rng.Shuffle(len(run.Ratios), func(i, k int) { run.Ratios[i], run.Ratios[k] = run.Ratios[k], run.Ratios[i] })
		rng.Shuffle(len(run.Jobs), func(i, k int) { run.Jobs[i], run.Jobs[k] = run.Jobs[k], run.Jobs[i] })
		rng.Shuffle(len(run.Segments), func(i, k int) { run.Segments[i], run.Segments[k] = run.Segments[k], run.Segments[i] })
		rng.Shuffle(len(run.Solves), func(i, k int) { run.Solves[i], run.Solves[k] = run.Solves[k], run.Solves[i] })
		rng.Shuffle(len(run.Bounds), func(i, k int) { run.Bounds[i], run.Bounds[k] = run.Bounds[k], run.Bounds[i] })
		if got := mustDigest(t, run); got != want {
			t.Fatalf("seed %d: digest %s after shuffling, %s before", seed, got, want)
		}
	}
	run.Manifest.Execution.Workers = 99
	run.Manifest.Machine.CPU = "another"
	if mustDigest(t, run) != want {
		t.Error("the machine changed the digest")
	}
}

// Rows with one key are found, the earliest pair first, and rows with one short hash of
// different keys are not taken for such.
func TestDigestTwice(t *testing.T) {
	run := randomRun(7, 60)
	table := jobTable()
	columns, rows := table.describe(), run.Jobs
	if len(rows) < 20 {
		t.Fatalf("%d rows are too few", len(rows))
	}
	one := func() []keyed { // all with the same hash
		keys := make([]keyed, len(rows))
		for i := range keys {
			keys[i].row = i
		}
		return keys
	}
	if a, b, twice := table.twice(rows, columns, one()); twice {
		t.Fatalf("rows %d and %d have different keys, and are said to have one", a, b)
	}
	mustDigest(t, run)
	rows[17], rows[12], rows[15] = rows[3], rows[3], rows[9]
	if a, b, twice := table.twice(rows, columns, one()); !twice || a != 3 || b != 12 {
		t.Errorf("rows %d and %d, %v: want 3 and 12", a, b, twice)
	}
	if _, err := run.Digest(); err == nil || !strings.Contains(err.Error(), "row 12 ") || !strings.Contains(err.Error(), "has the key of row 3:") {
		t.Errorf("two rows with one key: %v", err)
	}
}

// Every cell of a key or value column counts, every other one does not.
func TestDigestSeesValuesOnly(t *testing.T) {
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	base := func() *Run {
		run := randomRun(seed, 3)
		for i := range run.Ratios {
			run.Ratios[i].WallLimited = false
		}
		for i := range run.Solves {
			run.Solves[i].WallLimited = false
		}
		for i := range run.Bounds {
			run.Bounds[i].WallLimited = false
		}
		for i := range run.Placements {
			run.Placements[i].WallLimited = false
		}
		return run
	}
	checkSensitivity(t, rng, base, ratioTable(base().Manifest.Params))
	checkSensitivity(t, rng, base, jobTable())
	checkSensitivity(t, rng, base, segmentTable())
	checkSensitivity(t, rng, base, solveTable())
	checkSensitivity(t, rng, base, boundTable())
	checkSensitivity(t, rng, base, predictionTable())
	checkSensitivity(t, rng, base, theoremTable())
	checkSensitivity(t, rng, base, placementTable())
}

func checkSensitivity[R any](t *testing.T, rng *rand.Rand, base func() *Run, table *table[R]) {
	want := mustDigest(t, base())
	for c, column := range table.describe() {
		if column.Name == "wall_limited" {
			continue
		}
		run := base()
		row := &(*table.rows(run))[rng.IntN(3)]
		change(row, table.columns[c].field(row))
		if got := mustDigest(t, run); (got != want) != (column.Group == Key || column.Group == Value) {
			t.Errorf("%s.%s: group %s, digest changed: %v", table.name, column.Name, column.Group, got != want)
		}
	}
}

// change makes a field differ from what it was, and from every other row's.
func change(row, field any) {
	old, err := get(field)
	if err != nil {
		panic(err)
	}
	if p, ok := field.(param); ok && p.Number {
		p.row.Params[p.Name] = "0.125"
		return
	}
	set(field, value{s: old.s + "'", i: old.i + 1000, f: old.f + 1, b: !old.b})
}

// Rows that a wall-clock limit shaped are left out, with their cells' jobs.
func TestDigestLeavesLimitedRowsOut(t *testing.T) {
	run := sampleRun()
	run.Ratios[0].WallLimited = true
	want := mustDigest(t, run)
	run.Ratios[0].Cost = Some(11.5)
	run.Ratios[0].RatioToOptimum = Opt[float64]{}
	run.Jobs[0].Completion = Some(11.0)
	if got := mustDigest(t, run); got != want {
		t.Error("a limited cell changed the digest")
	}
	run.Ratios[1].Cost = Some(11.5)
	if got := mustDigest(t, run); got == want {
		t.Error("an unlimited cell does not count")
	}
	run = sampleRun()
	a := mustDigest(t, run)
	run.Bounds[0].WallLimited = true
	if b := mustDigest(t, run); a == b {
		t.Error("a limited bound counts")
	}
}

// A digest does not change when a later version appends tables and columns
// that these rows leave missing: nothing missing is hashed.
func TestDigestOfMissing(t *testing.T) {
	columns := jobTable().describe()
	var line []byte
	for _, c := range columns {
		line = appendCell(line, []byte(c.Name), c.Type, value{null: true})
	}
	if len(line) != 0 {
		t.Error("missing values leave a trace")
	}
	empty, rows := mustDigest(t, &Run{}), &Run{Bounds: sampleRun().Bounds}
	if mustDigest(t, rows) == empty {
		t.Error("rows leave no trace")
	}
}

// What a search knew when depends on the clock: no event counts.
func TestDigestLeavesEventsOut(t *testing.T) {
	run := sampleRun()
	want := mustDigest(t, run)
	run.Events = []Event{{CellID: "a/fifo", Objective: "makespan", Instance: "a", Dual: Some(3.0)}}
	if mustDigest(t, run) != want {
		t.Error("an event changed the digest")
	}
}
