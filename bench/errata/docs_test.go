package errata_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/errata"
)

var update = flag.Bool("update", false, "write the tables of docs/errata.md anew")

// TestDocument: the tables of docs/errata.md are those of the code, paper by paper.
func TestDocument(t *testing.T) {
	const path = "../../docs/errata.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, paper := range errata.Papers() {
		before, rest, ok := strings.Cut(page, "<!-- begin "+paper+" -->\n")
		_, after, ends := strings.Cut(rest, "<!-- end "+paper+" -->\n")
		if !ok || !ends {
			t.Fatalf("%s has no place for the tables of %s", path, paper)
		}
		page = before + "<!-- begin " + paper + " -->\n" + errata.Table(paper) + "<!-- end " + paper + " -->\n" + after
	}
	if page == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s does not have the tables of the code: run go test ./bench/errata -run TestDocument -update", path)
	}
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTable: every erratum shows quotation, scope and correction, every remark what is
// true, and a cell's bars do not end it.
func TestTable(t *testing.T) {
	for _, e := range errata.Errata() {
		for what, text := range map[string]string{"name": "`" + e.Name + "`", "quotation": e.Quote, "scope": strings.Join(e.Scope, "; "), "correction": e.Correction} {
			if !strings.Contains(strings.ReplaceAll(errata.Table(e.Paper), `\|`, "|"), text) {
				t.Errorf("%s: the table does not have the %s", e.Name, what)
			}
		}
	}
	for _, r := range errata.Remarks() {
		if table := strings.ReplaceAll(errata.Table(r.Paper), `\|`, "|"); !strings.Contains(table, r.Quote) || !strings.Contains(table, r.True) {
			t.Errorf("%s: the table does not have what is true", r.Name)
		}
	}
	for _, paper := range errata.Papers() {
		columns := 0
		for _, line := range strings.Split(errata.Table(paper), "\n") {
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if strings.HasPrefix(line, "|") && columns > 0 && n != columns {
				t.Errorf("%s: %d bars for %d in %s", paper, n, columns, line)
			}
			if columns = n; !strings.HasPrefix(line, "|") {
				columns = 0
			}
		}
	}
}

// TestFairness: Theorem 1 of the SJF-BSBF paper and its condition are true where the paper
// states them. Nothing in the repository may call the condition of Case 2 "the printed
// condition", as if it were printed for all pairs, nor name the errata that did.
func TestFairness(t *testing.T) {
	banned := []string{"condition: printed", "condition=printed", "printed condition", "corrected theorem", "as corrected says", "short-job", "long-job", "wrong in print"}
	read := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != "." {
				return fs.SkipDir
			}
			return err
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".py"}, filepath.Ext(path)) || d.Name() == "CHANGELOG.md" || d.Name() == "docs_test.go" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		text := strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(string(data)), "\n// ", " ")), " ")
		for _, phrase := range banned {
			if strings.Contains(text, phrase) {
				t.Errorf("%s says %q", path, phrase)
			}
		}
		if sharing := strings.HasSuffix(path, "sharing.md"); sharing && (strings.Contains(text, "theorem 1 is false") || strings.Contains(text, "condition is false") || strings.Contains(text, "condition is wrong")) {
			t.Errorf("%s calls Theorem 1 or its condition false", path)
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Errorf("%d files, %v", read, err)
	}
}
