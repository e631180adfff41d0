package record

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every field of a row is in exactly one column, and no two columns share a
// name.
func TestEveryFieldIsAColumn(t *testing.T) {
	checkFields(t, ratioTable(nil), "Params")
	checkFields(t, jobTable())
	checkFields(t, segmentTable())
	checkFields(t, solveTable())
	checkFields(t, boundTable())
	checkFields(t, predictionTable())
	checkFields(t, theoremTable())
	checkFields(t, placementTable())
}

func checkFields[R any](t *testing.T, table *table[R], except ...string) {
	row := new(R)
	columns := map[uintptr]string{}
	var names []string
	for _, c := range table.columns {
		at := reflect.ValueOf(c.field(row)).Pointer()
		if other, taken := columns[at]; taken {
			t.Errorf("%s: columns %s and %s are the same field", table.name, c.name, other)
		}
		columns[at] = c.name
		if slices.Contains(names, c.name) {
			t.Errorf("%s: column %s is there twice", table.name, c.name)
		}
		names = append(names, c.name)
	}
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if _, ok := columns[v.Field(i).Addr().Pointer()]; !ok && !slices.Contains(except, name) {
			t.Errorf("%s: field %s is in no column", table.name, name)
		}
	}
}

func TestColumnRules(t *testing.T) {
	for _, table := range Tables(Param{Name: "load", Number: true}) {
		for _, c := range table.Columns {
			name := table.Name + " " + c.Name
			switch {
			case c.Group == Key && c.Nullable:
				t.Errorf("%s: a key may not be missing", name)
			case c.Doc == "" || strings.HasSuffix(c.Doc, ".") || strings.ContainsAny(c.Doc, "\n|"):
				t.Errorf("%s: description %q", name, c.Doc)
			case strings.HasSuffix(c.Name, "_s") != (c.Unit == "s"), strings.HasSuffix(c.Name, "_bytes") != (c.Unit == "bytes"):
				t.Errorf("%s: unit %q is not in the name", name, c.Unit)
			case c.Name != strings.ToLower(c.Name):
				t.Errorf("%s: not in lower case", name)
			}
		}
	}
}

// The schema is a promise to every reader: columns are only ever appended. A
// change of the golden file that is not an added line at the end of a table
// needs a new FormatVersion.
func TestSchemaGolden(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "format version %d\n", FormatVersion)
	for _, table := range Tables(Param{Name: "cluster.inter"}, Param{Name: "load", Number: true}) {
		fmt.Fprintf(&b, "\n%s\n", table.Name)
		for _, c := range table.Columns {
			null := "required"
			if c.Nullable {
				null = "nullable"
			}
			fmt.Fprintf(&b, "  %-22s %-8s %-9s %-8s %s\n", c.Name, c.Type, null, c.Group, c.Unit)
		}
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	compareGolden(t, "schema.golden", strings.Join(lines, "\n")+"\n")
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs from what the code does now; if that is meant, run the test with -update and read the diff\n got:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestParamColumn(t *testing.T) {
	for name, want := range map[string]string{"cluster.inter": "p_cluster_inter", "cluster.gpusPerServer": "p_cluster_gpusperserver", "x-1 é": "p_x_1__"} {
		if got := (Param{Name: name}).Column(); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
