package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"yardstick/internal/python"
)

// What Go wrote, pyarrow, pandas and polars read: every value, every null, the
// types, the units and the metadata.
func TestOtherReaders(t *testing.T) {
	interpreter := python.Interpreter(t, "pyarrow")
	for name, run := range map[string]*Run{"random": randomRun(21, 60), "sample": sampleRun(), "empty": {}} {
		dir := t.TempDir()
		mustWrite(t, dir, run)
		cmd := exec.Command(interpreter, filepath.Join("testdata", "read.py"), dir)
		var errors bytes.Buffer
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, errors.Bytes())
		}
		var got struct {
			Seen    map[string]map[string]map[string][]any
			Schemas map[string]struct {
				Metadata map[string]string
				Columns  []struct {
					Name, Type string
					Nullable   bool
					Metadata   map[string]string
				}
			}
			Versions map[string]string
		}
		d := json.NewDecoder(bytes.NewReader(out))
		d.UseNumber()
		if err := d.Decode(&got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %v", name, got.Versions)
		for i, table := range Tables(run.Manifest.Params...) {
			s := got.Schemas[table.Name]
			embedded, err := run.Manifest.embedded()
			if err != nil {
				t.Fatal(err)
			}
			if s.Metadata["bench.schema_version"] != strconv.Itoa(FormatVersion) || s.Metadata["bench.plan_id"] != run.Manifest.PlanID || s.Metadata["bench.manifest"] != embedded {
				t.Errorf("%s: %s: metadata %v", name, table.Name, s.Metadata)
			}
			if len(s.Columns) != len(table.Columns) {
				t.Errorf("%s: %s: %d columns, want %d", name, table.Name, len(s.Columns), len(table.Columns))
				continue
			}
			for k, c := range table.Columns {
				pyarrowType := map[Type]string{UTF8: "string", Float64: "double"}[c.Type]
				if pyarrowType == "" {
					pyarrowType = string(c.Type)
				}
				f := s.Columns[k]
				if f.Name != c.Name || f.Type != pyarrowType || f.Nullable != c.Nullable || f.Metadata["unit"] != c.Unit || f.Metadata["description"] != c.Doc || f.Metadata["group"] != string(c.Group) {
					t.Errorf("%s: %s: column %+v, want %+v", name, table.Name, f, c)
				}
			}
			cells := tables(run.Manifest.Params)[i].(interface{ cells(*Run) [][]value }).cells(run)
			for _, reader := range []string{"pyarrow", "pandas", "polars"} {
				for k, c := range table.Columns {
					if err := compareColumn(got.Seen[reader][table.Name][c.Name], cells[k], c.Type); err != nil {
						t.Errorf("%s: %s: %s: column %s: %v", name, reader, table.Name, c.Name, err)
					}
				}
			}
		}
	}
}

// cells returns the values of a run's table, by column and row.
func (t *table[R]) cells(run *Run) [][]value {
	rows := *t.rows(run)
	list := make([][]value, len(t.columns))
	for c := range t.columns {
		for i := range rows {
			v, err := get(t.columns[c].field(&rows[i]))
			if err != nil {
				panic(err)
			}
			list[c] = append(list[c], v)
		}
	}
	return list
}

func compareColumn(got []any, want []value, typ Type) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i, w := range want {
		g, same := got[i], false
		switch {
		case w.null:
			same = g == nil
		case typ == UTF8:
			same = g == w.s
		case typ == Bool:
			same = g == w.b
		default: // pandas turns integers beside a null into floats; all are below 2^53
			n, _ := g.(json.Number)
			f, err := n.Float64()
			same = err == nil && (f == w.f && typ == Float64 || f == float64(w.i) && typ != Float64)
		}
		if !same {
			return fmt.Errorf("row %d is %v (%T), want %s", i, g, g, w.format(typ))
		}
	}
	return nil
}
