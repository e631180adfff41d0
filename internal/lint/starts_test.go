package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// startless are the functions that get a milp.Start and do not use all of it, by
// package and receiver, with the reason.
var startless = map[string]string{
	"solvers/lpsolve MIP":     "lp_solve's branch and bound takes neither a point nor a rounding",
	"solvers/external Solver": "no way to give a point is common to the programs",
	"solvers/isolate Solver":  "a function cannot be sent to a child process",
}

// without are the packages that solve programs and know no start for them.
var without = map[string]string{
	"bench/placing":      "of a placement nothing is known before the solve",
	"bench/catalogue":    "the programs of a placement, as bench/placing",
	"solvers/solvertest": "most cases are about solvers left to themselves",
}

// isolating are the files that may solve in a child process: what is in a cell is in
// one already.
var isolating = []string{"bench/catalogue/placements.go"}

// Hints to solvers are not lost on the way: whoever gets a milp.Start uses both of its
// parts or hands it on whole, nobody makes an empty one, and nothing in a cell starts a
// child of a child. Solvers run the conformance suite, which tries what this reads.
func TestStartsArePassedOn(t *testing.T) {
	used := map[string]bool{}
	solvers := 0
	for _, p := range packages(t) {
		fset := token.NewFileSet()
		solves := false
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range startFaults(fset, f, p.path(), filepath.Join(p.path(), file), used) {
				t.Error(err)
			}
			solves = solves || slices.ContainsFunc(f.Decls, implementsSolver)
		}
		if !solves {
			continue
		}
		solvers++
		if !slices.ContainsFunc(slices.Concat(p.TestGoFiles, p.XTestGoFiles), func(file string) bool {
			src, err := os.ReadFile(filepath.Join(p.Dir, file))
			return err == nil && strings.Contains(string(src), "solvertest.Solver(t")
		}) {
			t.Errorf("package %s has a milp.Solver and no test that calls solvertest.Solver", p.path())
		}
	}
	if solvers < 4 {
		t.Errorf("%d packages with solvers: the test has lost its subject", solvers)
	}
	for key := range startless {
		if !used[key] {
			t.Errorf("%s uses its start, or is no more: take it off the list", key)
		}
	}
	for key := range without {
		if !used[key] {
			t.Errorf("%s makes no empty start any more: take it off the list", key)
		}
	}
}

// startFaults returns what a file does wrong, and marks the exceptions that it needs.
func startFaults(fset *token.FileSet, f *ast.File, pkg, file string, used map[string]bool) (faults []error) {
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Body == nil {
			continue
		}
		for _, param := range d.Type.Params.List {
			if !isSelector(param.Type, "milp", "Start") {
				continue
			}
			if len(param.Names) == 1 && usesAll(d.Body, param.Names[0].Name) {
				continue
			}
			key := strings.TrimSpace(pkg + " " + receiver(d))
			if used[key] = true; startless[key] == "" {
				faults = append(faults, fmt.Errorf("%s: %s drops a part of its start: hand it on, or list it here with the reason", fset.Position(d.Pos()), d.Name.Name))
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CompositeLit)
		switch {
		case !ok:
		case isSelector(c.Type, "milp", "Start") && len(c.Elts) == 0:
			if used[pkg] = true; without[pkg] == "" {
				faults = append(faults, fmt.Errorf("%s: an empty start: give what is known, or list the package here with the reason", fset.Position(n.Pos())))
			}
		case isSelector(c.Type, "isolate", "Solver") && !slices.Contains(isolating, file):
			faults = append(faults, fmt.Errorf("%s: a solver in a child process: cells are in one already", fset.Position(n.Pos())))
		}
		return true
	})
	return faults
}

// usesAll reports whether a body uses a variable whole, or both of its fields.
func usesAll(body *ast.BlockStmt, name string) bool {
	fields := map[string]bool{}
	whole := false
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == name {
				fields[n.Sel.Name] = true
			} else {
				ast.Inspect(n.X, look)
			}
			return false // what is selected is no variable
		case *ast.Ident:
			whole = whole || n.Name == name && name != "_"
		}
		return true
	}
	ast.Inspect(body, look)
	return whole || fields["X"] && fields["Round"]
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && s.Sel.Name == name
}

// implementsSolver reports whether a declaration is the method Solve of a milp.Solver.
func implementsSolver(decl ast.Decl) bool {
	d, ok := decl.(*ast.FuncDecl)
	return ok && d.Recv != nil && d.Name.Name == "Solve" &&
		slices.ContainsFunc(d.Type.Params.List, func(p *ast.Field) bool { return isSelector(p.Type, "milp", "Start") })
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	e := d.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if x, ok := e.(*ast.Ident); ok {
		return x.Name
	}
	return d.Name.Name
}

// The rules refuse what they are there for.
func TestStartRulesReject(t *testing.T) {
	for body, want := range map[string]int{
		"func (w wrapper) Solve(s milp.Start) { w.Solver.Solve(s) }":                                   0,
		"func (w wrapper) Solve(s milp.Start) { use(s.X); use(s.Round) }":                              0,
		"func (w wrapper) Solve(s milp.Start) { w.Solver.Solve(milp.Start{X: s.X, Round: s.Round}) }":  0,
		"func (w wrapper) Solve(s milp.Start) { w.Solver.Solve(milp.Start{X: s.X}) }":                  1,
		"func (w wrapper) Solve(s milp.Start) { w.Solver.Solve(milp.Start{Round: s.Round}) }":          1,
		"func (w wrapper) Solve(s milp.Start) { w.Solver.Solve(milp.Start{}) }":                        2,
		"func (w wrapper) Solve(_ milp.Start) { w.Solver.Solve(milp.Start{}) }":                        2,
		"func (w wrapper) Solve(start milp.Start) { w.start(); use(start.X) }":                         1,
		"func (w wrapper) Solve(milp.Start) {}":                                                        1,
		"func solve(s milp.Solver) { s.Solve(milp.Start{}) }":                                          1,
		`func solve() milp.Solver { return isolate.Solver{Solver: "branch"} }`:                         1,
		"func solve(s milp.Solver, m *program) { s.Solve(milp.Start{X: m.point(), Round: m.listed}) }": 0,
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "a.go", "package a\n"+body, 0)
		if err != nil {
			t.Fatal(err)
		}
		if faults := startFaults(fset, f, "a", "a/a.go", map[string]bool{}); len(faults) != want {
			t.Errorf("%s: %v, want %d faults", body, faults, want)
		}
	}
}
