package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"yardstick/bench/record"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the code does now")

func TestGolden(t *testing.T) {
	r := New(sampleRun())
	for name, o := range map[string]Options{
		"table.txt":       {},
		"table-color.txt": {Color: true, Part: Summaries},
		"table-100.txt":   {Width: 100},
		"table-72.txt":    {Width: 72},
		"report.md":       {Format: Markdown},
		"report.tex":      {Format: LaTeX},
		"summary.csv":     {Format: CSV},
		"instances.csv":   {Format: CSV, Part: Instances},
		"report.json":     {Format: JSON},
	} {
		var b bytes.Buffer
		if err := r.Write(&b, o); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var b bytes.Buffer
	if err := New(&record.Run{}).Write(&b, Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "empty.txt", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs; if that is meant, run the test with -update and read the diff\n got:\n%s\nwant:\n%s", path, got, want)
	}
}
