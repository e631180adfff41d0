package importer

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/table"
)

// labels and numbers are the optional fields of a row.
func labels(r *datasets.Row) [6]*datasets.Opt[string] {
	return [...]*datasets.Opt[string]{&r.User, &r.VC, &r.Group, &r.Status, &r.Model, &r.GPUType}
}

func numbers(r *datasets.Row) [9]*datasets.Opt[float64] {
	return [...]*datasets.Opt[float64]{&r.SubmitS, &r.QueueS, &r.DurationS, &r.GPUs, &r.CPUs, &r.BatchSize, &r.DeadlineS, &r.Iterations, &r.Weight}
}

// randomRow sets each field with an even chance.
func randomRow(rng *rand.Rand, n int) datasets.Row {
	r := datasets.Row{Trace: fmt.Sprint("t", rng.IntN(3)), JobID: fmt.Sprint(n, strings.Repeat("x", rng.IntN(200)))}
	for _, f := range labels(&r) {
		if rng.IntN(2) == 0 {
			*f = datasets.Some([...]string{"", "a", fmt.Sprint(n), fmt.Sprint(rng.IntN(50))}[rng.IntN(4)])
		}
	}
	for _, f := range numbers(&r) {
		if rng.IntN(2) == 0 {
			*f = datasets.Some(float64(rng.IntN(1000)) / 8)
		}
	}
	if r.Weight.V == 0 {
		r.Weight = datasets.Opt[float64]{}
	}
	return r
}

// pointers yields rows as importers do.
func pointers(rows []datasets.Row) iter.Seq2[*datasets.Row, error] {
	return func(yield func(*datasets.Row, error) bool) {
		for i := range rows {
			if !yield(&rows[i], nil) {
				return
			}
		}
	}
}

func read(t *testing.T, path string) []datasets.Row {
	t.Helper()
	s, err := datasets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows []datasets.Row
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// What is written is what was given, in order.
func TestWrite(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var rows []datasets.Row
	for n := range 20000 {
		rows = append(rows, randomRow(rng, n))
	}
	distinct := map[string]bool{}
	for i := range rows {
		for _, f := range labels(&rows[i]) {
			distinct[f.V] = true
		}
	}
	if len(distinct) < 5000 {
		t.Fatalf("only %d texts", len(distinct))
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.parquet")
	for _, start := range []float64{0, 1.5e9} {
		moved := slices.Clone(rows)
		for i := range moved {
			moved[i].SubmitS.V += start
			moved[i].DeadlineS.V += start
		}
		moved[0].SubmitS = datasets.Some(start)
		r := &Report{Calendar: true}
		if err := Write(out, pointers(moved), r, nil); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(rows)
		want[0].SubmitS = datasets.Some(0.)
		got := read(t, out)
		for i := range got {
			for _, f := range numbers(&want[i]) {
				if !f.OK {
					f.V = 0
				}
			}
			if got[i] != want[i] {
				t.Fatalf("start %v: row %d is %+v, not %+v", start, i, got[i], want[i])
			}
		}
		if len(got) != len(want) || r.Kept != len(want) || r.StartS != start || r.Start.Unix() != int64(start) {
			t.Errorf("start %v: %d rows, %+v", start, len(got), r)
		}
	}
}

// A spool gives back what it was given, bit by bit, whatever is NULL.
func TestSpool(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	texts := []string{"", "a", "b", strings.Repeat("é", 100), strings.Repeat("x", 1<<17)}
	values := []float64{0, math.Copysign(0, -1), 1, 1.5e9, 1e300, math.NaN(), math.Inf(-1)}
	for _, n := range []int{0, 1, table.BatchRows - 1, table.BatchRows, 3*table.BatchRows + 7} {
		s, err := newSpool(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		often := [15]int{} // of 4 values of a field, so many are there
		for i := range often {
			often[i] = rng.IntN(5)
		}
		var want []*table.Batch
		for i := range n {
			r := datasets.Row{Trace: "t", JobID: fmt.Sprint(i)}
			for c, f := range labels(&r) {
				*f = datasets.Opt[string]{V: texts[min(c, rng.IntN(len(texts)))], OK: rng.IntN(4) < often[c]}
			}
			for c, f := range numbers(&r) {
				*f = datasets.Opt[float64]{V: values[rng.IntN(len(values))], OK: rng.IntN(4) < often[6+c]}
			}
			if i%table.BatchRows == 0 {
				want = append(want, datasets.NewBatch())
			}
			r.Append(want[len(want)-1])
			if err := s.add(&r); err != nil {
				t.Fatal(err)
			}
		}
		rows := 0
		for b, err := range s.batches() {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Rows {
				sameRow(t, b, i, want[rows/table.BatchRows], rows%table.BatchRows)
				rows++
			}
		}
		if rows != n {
			t.Errorf("%d rows of %d", rows, n)
		}
	}
}

func sameRow(t *testing.T, got *table.Batch, i int, want *table.Batch, j int) {
	t.Helper()
	for c, column := range datasets.Columns() {
		if column.Type == "utf8" {
			v, ok := got.Text(c, i)
			w, there := want.Text(c, j)
			if ok != there || ok && v != w {
				t.Fatalf("row %d: %s is %.20q, %v, want %.20q, %v", i, column.Name, v, ok, w, there)
			}
			continue
		}
		v, ok := got.Number(c, i)
		w, there := want.Number(c, j)
		if ok != there || ok && math.Float64bits(v) != math.Float64bits(w) {
			t.Fatalf("row %d: %s is %v, %v, want %v, %v", i, column.Name, v, ok, w, there)
		}
	}
}

// A temporary file that lost its end is an error.
func TestSpoolCutOff(t *testing.T) {
	for _, lost := range []int64{1, 30, 1000} {
		s, err := newSpool(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		for i := range 1000 {
			if err := s.add(&datasets.Row{Trace: "t", JobID: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		s.encode()
		if err := s.write(); err != nil {
			t.Fatal(err)
		}
		info, err := s.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.file.Truncate(info.Size() - lost); err != nil {
			t.Fatal(err)
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			err = s.read(s.file)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes lost: %v", lost, err)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.parquet")
	broken := func(yield func(*datasets.Row, error) bool) {
		_ = yield(&datasets.Row{Trace: "t", JobID: "a"}, nil) && yield(nil, errors.New("broken off"))
	}
	if err := Write(out, broken, &Report{}, nil); err == nil || err.Error() != "broken off" {
		t.Errorf("%v", err)
	}
	bad := []datasets.Row{{Trace: "t", JobID: "a"}, {Trace: "t", JobID: "b", GPUs: datasets.Some(-1.)}}
	if err := Write(out, pointers(bad), &Report{}, nil); err == nil || !strings.Contains(err.Error(), "row 2: column gpus is -1") {
		t.Errorf("%v", err)
	}
	if err := Write(filepath.Join(dir, "none", "x"), pointers(nil), &Report{}, nil); err == nil || !strings.HasPrefix(err.Error(), "cannot write ") {
		t.Errorf("%v", err)
	}
	empty(t, dir)
	r := &Report{}
	if err := Write(out, pointers(nil), r, nil); err != nil || r.Kept != 0 || r.StartS != 0 || len(read(t, out)) != 0 {
		t.Errorf("no rows: %v, %+v", err, r)
	}
}

// Rules drop and change in their order, and each row counts once.
func TestKeep(t *testing.T) {
	all := []Rule[*int]{
		{Name: "odd", Doc: "drops odd numbers", Default: true, Drops: func(n *int) bool { return *n%2 == 1 }},
		{Name: "double", Doc: "doubles", Changes: func(n *int) { *n *= 2 }},
		{Name: "large", Doc: "drops numbers above 10", Default: true, Drops: func(n *int) bool { return *n > 10 }},
	}
	numbers := func(yield func(*int, error) bool) {
		for i := range 12 {
			if !yield(&i, nil) {
				return
			}
		}
	}
	for names, want := range map[string]string{
		"default":             "12 rows in, 6 kept, 6 dropped by odd, 0 dropped by large: 0 2 4 6 8 10",
		"none":                "12 rows in, 12 kept: 0 1 2 3 4 5 6 7 8 9 10 11",
		"double,default":      "12 rows in, 3 kept, 6 dropped by odd, 3 dropped by large: 0 4 8",
		"large,double":        "12 rows in, 6 kept, 6 dropped by large: 0 2 4 6 8 10",
		"none,odd,odd,double": "12 rows in, 6 kept, 6 dropped by odd: 0 4 8 12 16 20",
	} {
		rules, err := Choose(all, strings.Split(names, ","))
		if err != nil {
			t.Fatal(err)
		}
		r := &Report{}
		var kept []string
		row := func(n *int) *datasets.Row { return &datasets.Row{JobID: fmt.Sprint(*n)} }
		for got := range Keep(iter.Seq2[*int, error](numbers), rules, r, row) {
			kept = append(kept, got.JobID)
			r.Kept++
		}
		if got := r.String() + ": " + strings.Join(kept, " "); got != want {
			t.Errorf("%s: %s", names, got)
		}
	}
	if rules, err := Choose(all, nil); err != nil || len(rules) != 2 {
		t.Errorf("%d rules by default, %v", len(rules), err)
	}
	if _, err := Choose(all, []string{"od"}); err == nil || err.Error() != `there is no cleaning rule "od"; the nearest is "odd" (rules are default, none, odd, double, large)` {
		t.Errorf("%v", err)
	}
	if got := Describe(all); got[0] != "odd: drops odd numbers (default)" || got[1] != "double: doubles" {
		t.Errorf("%v", got)
	}
	r := &Report{}
	r.Drop("a")
	r.Drop("a")
	if r.DroppedBy("a") != 2 || r.DroppedBy("b") != 0 {
		t.Errorf("%v", r)
	}
}

func TestRowRules(t *testing.T) {
	some := datasets.Some[float64]
	for _, c := range []struct {
		rule Rule[*datasets.Row]
		row  datasets.Row
		drop bool
	}{
		{NoDuration(), datasets.Row{}, true},
		{NoDuration(), datasets.Row{DurationS: some(0)}, true},
		{NoDuration(), datasets.Row{DurationS: some(.5)}, false},
		{NoGPUs(), datasets.Row{}, true},
		{NoGPUs(), datasets.Row{GPUs: some(.5)}, false},
		{NegativeTime(), datasets.Row{DurationS: some(-1)}, true},
		{NegativeTime(), datasets.Row{DurationS: some(1), QueueS: some(-1)}, false},
		{Between("w", "", Clock{}, "1970-01-02 00:00:00", "1970-01-03 00:00:00"), datasets.Row{SubmitS: some(86400)}, false},
		{Between("w", "", Clock{}, "1970-01-02 00:00:00", "1970-01-03 00:00:00"), datasets.Row{SubmitS: some(86399)}, true},
		{Between("w", "", Clock{}, "1970-01-02 00:00:00", "1970-01-03 00:00:00"), datasets.Row{SubmitS: some(2 * 86400)}, true},
		{Between("w", "", Clock{}, "1970-01-02 00:00:00", "1970-01-03 00:00:00"), datasets.Row{}, true},
	} {
		lifted := Lift(c.rule, func(r *datasets.Row) *datasets.Row { return r })
		if c.rule.Drops(&c.row) != c.drop || lifted.Drops(&c.row) != c.drop {
			t.Errorf("%s: %+v", c.rule.Name, c.row)
		}
		if lifted.Changes != nil {
			lifted.Changes(&c.row)
		}
		if c.row.QueueS.OK {
			t.Errorf("%s keeps a negative queueing time", c.rule.Name)
		}
	}
}
