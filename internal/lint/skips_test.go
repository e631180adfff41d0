package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// withoutData are the texts of skips that no installation mends: public traces are no part of the
// repository.
var withoutData = []string{"the shared traces are not here: %v", "the published profiles are not here: %v", "no public traces in ../shared/data: %v"}

// TestSkips: a test ends early for its tier, where data are missing, or by package
// schedtest, which fails in CI but for what a kernel need not grant. Any other skip would
// be silent where it matters.
func TestSkips(t *testing.T) {
	known := 0
	for _, p := range packages(t) {
		if p.path() == "internal/tier" || p.path() == "internal/schedtest" {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			bare, data := skips(f)
			known += data
			for _, call := range bare {
				t.Errorf("%s: a bare skip: use internal/tier, schedtest.Missing or schedtest.Forbidden", fset.Position(call.Pos()))
			}
		}
	}
	if known < 5 {
		t.Errorf("%d skips for want of data: the test has lost its subject", known)
	}
}

// skips lists the skips of a file but those of inputs that a fuzzer draws, which say nothing,
// and counts those for want of data.
func skips(f *ast.File) (bare []*ast.CallExpr, data int) {
	drawn := map[*ast.CallExpr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		switch {
		case !ok:
		case s.Sel.Name == "Fuzz":
			ast.Inspect(call, func(n ast.Node) bool {
				if within, ok := n.(*ast.CallExpr); ok && len(within.Args) == 0 {
					drawn[within] = true
				}
				return true
			})
		case slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) && !drawn[call]:
			if len(call.Args) > 0 {
				if text, ok := call.Args[0].(*ast.BasicLit); ok {
					if words, err := strconv.Unquote(text.Value); err == nil && slices.Contains(withoutData, words) {
						data++
						return true
					}
				}
			}
			bare = append(bare, call)
		}
		return true
	})
	return bare, data
}

func TestSkipsAreFound(t *testing.T) {
	for src, want := range map[string][2]int{
		`t.Skip("no Python here")`: {1, 0},
		`t.Skip(err)`:              {1, 0},
		`t.SkipNow()`:              {1, 0},
		`tb.Skipf("no Linux with %s", interpreter)`:                         {1, 0},
		`t.Run("x", func(t *testing.T) { t.Skip() })`:                       {1, 0},
		`t.Skipf("the shared traces are not here: %v", err)`:                {0, 1},
		`f.Fuzz(func(t *testing.T) { t.Skip() })`:                           {0, 0},
		`f.Fuzz(func(t *testing.T) { t.Skip("no Python here") })`:           {1, 0},
		`schedtest.Missing(t, "%v", err)`:                                   {0, 0},
		`_ = parquet.OpenFile(r, size, parquet.SkipPageIndex(t.Skipped()))`: {0, 0},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc f() { "+src+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if bare, data := skips(f); len(bare) != want[0] || data != want[1] {
			t.Errorf("%s: %d bare, %d for want of data, want %v", src, len(bare), data, want)
		}
	}
}
