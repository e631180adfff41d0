package lint

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// shown are the packages that a stranger meets first, the vocabulary and whatever is
// extended: their documentation has an example that runs.
var shown = []string{"sched", "sched/verify", "bounds", "bounds/certify", "heuristics/sim", "solvers/milp", "solvers/lpsolve",
	"solvers/exhaustive", "formulate/timeindexed", "datasets", "bench", "bench/record"}

// TestExamples: every package of the list has an example whose output is checked.
func TestExamples(t *testing.T) {
	unseen := slices.Clone(shown)
	for _, p := range packages(t) {
		if !slices.Contains(shown, p.path()) {
			continue
		}
		unseen = slices.DeleteFunc(unseen, func(s string) bool { return s == p.path() })
		var files []*ast.File
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		if checkedExamples(files) == 0 {
			t.Errorf("package %s has no example with an output: write one in example_test.go", p.path())
		}
	}
	for _, name := range unseen {
		t.Errorf("there is no package %s: mend the list of shown packages", name)
	}
}

// checkedExamples counts the examples that print something which is compared.
func checkedExamples(files []*ast.File) int {
	n := 0
	for _, e := range doc.Examples(files...) {
		if e.Output != "" {
			n++
		}
	}
	return n
}

func TestCheckedExamples(t *testing.T) {
	for body, want := range map[string]int{
		"func Example() { println(1)\n// Output: 1\n}":        1,
		"func ExampleX_y() { println(1)\n// Output:\n// 1\n}": 1,
		"func Example() { println(1) }":                       0, // compiled, not run
		"func Example() {\n// Output:\n}":                     0, // shows nothing
		"func example() { println(1)\n// Output: 1\n}":        0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\n"+body, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := checkedExamples([]*ast.File{f}); got != want {
			t.Errorf("%s: %d examples, want %d", body, got, want)
		}
	}
}
