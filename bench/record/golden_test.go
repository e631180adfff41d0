package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// regenerate says what to do when the golden results are of an older program.
const regenerate = "run make golden-run, which makes notebooks/golden again, and look at the notebooks (make notebooks)"

// golden lists the golden result directories of the notebooks.
func golden(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("../../notebooks/golden/*/" + ManifestName)
	if err != nil || len(dirs) < 3 {
		t.Fatalf("found the golden results %v (%v): %s", dirs, err, regenerate)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

// The golden results have the tables and columns that the program writes now.
// Their prose may be older: descriptions are not compared.
func TestGoldenSchema(t *testing.T) {
	for _, dir := range golden(t) {
		r, err := Open(dir)
		if err != nil {
			t.Errorf("%v: %s", err, regenerate)
			continue
		}
		for _, table := range Tables(r.Manifest.Params...) {
			got, err := describedColumns(filepath.Join(dir, table.Name))
			if err != nil {
				t.Errorf("%v: %s", err, regenerate)
				continue
			}
			var want []string
			for _, c := range table.Columns {
				want = append(want, described(c.Name, string(c.Type), c.Nullable, c.Unit, string(c.Group)))
			}
			if drift := difference(got, want); drift != "" {
				t.Errorf("%s/%s no longer has the columns that the program writes:\n%s%s", dir, table.Name, drift, regenerate)
			}
		}
	}
}

func described(name, typ string, nullable bool, unit, group string) string {
	return fmt.Sprintf("%s %s, null %t, unit %q, group %s", name, typ, nullable, unit, group)
}

// columns describes the columns of an Arrow file.
func describedColumns(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer in.Close()
	var list []string
	for _, f := range in.Schema().Fields() {
		unit, _ := f.Metadata.GetValue("unit")
		group, _ := f.Metadata.GetValue("group")
		list = append(list, described(f.Name, f.Type.Name(), f.Nullable, unit, group))
	}
	return list, nil
}

// difference lists what one has and the other lacks, or says that they are in
// another order.
func difference(got, want []string) string {
	var b strings.Builder
	for _, c := range want {
		if !slices.Contains(got, c) {
			fmt.Fprintf(&b, "  written now: %s\n", c)
		}
	}
	for _, c := range got {
		if !slices.Contains(want, c) {
			fmt.Fprintf(&b, "  golden:      %s\n", c)
		}
	}
	if b.Len() == 0 && !slices.Equal(got, want) {
		b.WriteString("  the same columns in another order\n")
	}
	return b.String()
}

// The test above can fail.
func TestDifference(t *testing.T) {
	old, now := described("cost", "float64", true, "s", "value"), described("cost", "float64", true, "h", "value")
	for _, test := range []struct {
		got, want []string
		lines     int
	}{
		{[]string{"a", "b"}, []string{"a", "b"}, 0},
		{[]string{"a"}, []string{"a", "b"}, 1},
		{[]string{"a", "b"}, []string{"b", "a"}, 1},
		{[]string{old}, []string{now}, 2},
	} {
		if d := difference(test.got, test.want); strings.Count(d, "\n") != test.lines {
			t.Errorf("%v against %v: %q, want %d lines", test.got, test.want, d, test.lines)
		}
	}
}
