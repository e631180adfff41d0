package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// namesObjectives are the files that may ask whether an objective is a certain total,
// and why. The vocabulary, the verifier and the certifier say what each one is.
var namesObjectives = map[string]string{
	"bench/tables/standing.go":      "one theorem is about the total completion time, and is restated",
	"bench/reproduce/asrptsweep.go": "a figure of a paper shows total JCT",
}

var definesObjectives = []string{"sched", "sched/verify", "bounds/certify"}

// Methods ask what an objective is like, as Weighted and IsTotal say, and not which it
// is: one that is added is then served by all that can, and refused by the others.
func TestObjectivesByProperties(t *testing.T) {
	unused := maps.Clone(namesObjectives)
	for _, p := range packages(t) {
		if slices.Contains(definesObjectives, p.path()) {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			name := p.path() + "/" + file
			for _, at := range comparedTotals(f) {
				if namesObjectives[name] == "" {
					t.Errorf("%s: ask for a property of the objective, such as Weighted or IsTotal, in place of its name", fset.Position(at))
				}
				delete(unused, name)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s names no total: drop its exception", name)
	}
}

// comparedTotals lists the places where something is compared with a total by name.
func comparedTotals(f *ast.File) (found []token.Pos) {
	total := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := s.X.(*ast.Ident)
		return ok && x.Name == "sched" && slices.Contains([]string{"TotalCompletion", "WeightedCompletion", "TotalJCT", "MeanJCT"}, s.Sel.Name)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (total(n.X) || total(n.Y)) {
				found = append(found, n.Pos())
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, total) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

func TestComparedTotals(t *testing.T) {
	for body, want := range map[string]int{
		"if o == sched.WeightedCompletion {}":               1,
		"if sched.MeanJCT != o {}":                          1,
		"switch o { case sched.Makespan, sched.TotalJCT: }": 1,
		"if o == sched.Makespan {}":                         0,
		"solve(in, sched.TotalJCT)":                         0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", fmt.Sprintf("package a\nfunc f() { %s }", body), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := comparedTotals(f); len(got) != want {
			t.Errorf("%s: %d places, want %d", strings.TrimSpace(body), len(got), want)
		}
	}
}
