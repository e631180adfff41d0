package record

import (
	"reflect"
	"testing"
)

// The values of every table are those of its rows, in order.
func TestValues(t *testing.T) {
	run := randomRun(4, 7)
	for _, table := range Tables(run.Manifest.Params...) {
		columns, rows, err := run.Values(table.Name)
		if err != nil || !reflect.DeepEqual(columns, table.Columns) {
			t.Fatal(table.Name, err)
		}
		n := 0
		for row, err := range rows {
			if err != nil {
				t.Fatal(err)
			}
			for c, v := range row {
				if v == nil && !columns[c].Nullable {
					t.Errorf("%s: %s is missing", table.Name, columns[c].Name)
				}
			}
			n++
		}
		if n != 7 {
			t.Errorf("%s: %d rows", table.Name, n)
		}
	}
	run.Ratios[3].Jobs = 41
	columns, rows, _ := run.Values("ratios.arrow")
	i := 0
	for row := range rows {
		for c := range row {
			switch columns[c].Name {
			case "jobs":
				if row[c] != int64(run.Ratios[i].Jobs) {
					t.Errorf("row %d: jobs is %v", i, row[c])
				}
			case "cost":
				if v := run.Ratios[i].Cost; v.Valid && row[c] != v.V || !v.Valid && row[c] != nil {
					t.Errorf("row %d: cost is %v, want %v", i, row[c], v)
				}
			}
		}
		i++
	}
	if _, _, err := run.Values("nothing.arrow"); err == nil {
		t.Error("a table that is none has values")
	}
	run.Ratios[2].Suite = ""
	_, rows, _ = run.Values("ratios.arrow")
	var last error
	for _, err := range rows {
		last = err
	}
	if last == nil {
		t.Error("a missing key was passed on")
	}
}
