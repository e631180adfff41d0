package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTiers: how much a test does is what package tier says, and nothing else: no other
// file asks for -short, or reads a variable of the environment that the tests' own
// processes do not set.
func TestTiers(t *testing.T) {
	uses := 0
	for _, p := range packages(t) {
		if p.path() == "internal/tier" || p.path() == "internal/lint" {
			continue
		}
		uses += len(slices.DeleteFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), func(imp string) bool { return imp != module+"/internal/tier" }))
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range tiersOfItsOwn(f) {
				t.Errorf("%s: %s decides how much a test does: use internal/tier", fset.Position(what.Pos()), p.path())
			}
		}
	}
	if uses < 5 {
		t.Errorf("%d packages use internal/tier: the test has lost its subject", uses)
	}
}

// tiersOfItsOwn lists the uses of testing.Short, and the texts that are variables of a
// tier by their names.
func tiersOfItsOwn(f *ast.File) (found []ast.Node) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "testing" && n.Sel.Name == "Short" {
				found = append(found, n)
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if err == nil && slices.Contains([]string{"YARDSTICK_TESTS", "YARDSTICK_LONG", "YARDSTICK_SLOW", "YARDSTICK_SHORT"}, text) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func TestTiersOfItsOwn(t *testing.T) {
	for src, want := range map[string]int{
		`package p; import "testing"; var _ = testing.Short()`:            1,
		`package p; import "os"; var _ = os.Getenv("YARDSTICK_LONG")`:     1,
		`package p; import "yardstick/internal/tier"; var _ = tier.All()`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(tiersOfItsOwn(f)); got != want {
			t.Errorf("%s: %d uses, want %d", src, got, want)
		}
	}
}

// TestCIRunsAll: what a brief run leaves out is run before a change is accepted.
func TestCIRunsAll(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(script)), "\n"); !slices.Contains(lines, "YARDSTICK_TESTS=all make test") {
		t.Error(".ci/run has no line \"YARDSTICK_TESTS=all make test\"")
	}
}
