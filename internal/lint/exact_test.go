package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exportedErrors are the errors that methods may export, and what each says. None says
// that a method does not apply: that is sched.ErrNotApplicable.
var exportedErrors = map[string]string{
	"bounds/certify.ErrFormat":            "the certificate is none",
	"bounds/certify.ErrInstance":          "the certificate is of another instance",
	"bounds/certify.ErrRefuted":           "the certificate is wrong",
	"bounds/certify.ErrTooHard":           "nothing is known of the certificate: it is a verdict, not a skip",
	"bounds/proof.ErrLimit":               "a search for a proof has not ended",
	"bounds/proof/treecheck.ErrRefused":   "the proof is wrong",
	"formulate/sharing.ErrRounded":        "a point is no schedule",
	"formulate/timeindexed.ErrIncumbent":  "an argument is no schedule",
	"formulate/timeindexed.ErrServers":    "a point is no schedule",
	"solvers/colgen.ErrInfeasible":        "there is no point",
	"solvers/partition.ErrNoPlacement":    "there is no placement",
	"solvers/external.ErrAbsent":          "a program is not installed",
	"solvers/isolate.ErrStart":            "the machine starts no process",
	"bounds/proof/veripb.ErrNotInstalled": "a program is not installed",
}

// TestOneErrorOneResult: of what makes schedules and bounds, no package says in an
// error of its own that it does not apply, and none but solvers/exact has a type of
// what an exact method has found: a schedule with costs.
func TestOneErrorOneResult(t *testing.T) {
	unused := map[string]bool{}
	for name := range exportedErrors {
		unused[name] = true
	}
	for _, p := range packages(t) {
		room, _, _ := strings.Cut(p.path(), "/")
		if !slices.Contains([]string{"bounds", "formulate", "solvers"}, room) {
			continue
		}
		fset := token.NewFileSet()
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range errorsOf(f) {
				if exportedErrors[p.path()+"."+name] == "" {
					t.Errorf("%s.%s: wrap sched.ErrNotApplicable if it says that a method does not apply, or say in exportedErrors what else it says", p.path(), name)
				}
				delete(unused, p.path()+"."+name)
			}
			for _, name := range resultsOf(f) {
				if p.path() != "solvers/exact" {
					t.Errorf("%s.%s is a schedule with costs: return an exact.Result", p.path(), name)
				}
			}
		}
	}
	for name := range unused {
		t.Errorf("exportedErrors has %s, which is not there", name)
	}
}

// errorsOf lists the exported variables of a file whose names begin with Err.
func errorsOf(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			for _, name := range s.(*ast.ValueSpec).Names {
				if strings.HasPrefix(name.Name, "Err") {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// resultsOf lists the exported types of a file with a field *sched.Schedule and a
// field *big.Rat.
func resultsOf(f *ast.File) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || !spec.Name.IsExported() {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		has := func(what string) bool {
			return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return types.ExprString(f.Type) == what })
		}
		if has("*sched.Schedule") && has("*big.Rat") {
			names = append(names, spec.Name.Name)
		}
		return true
	})
	return names
}

// TestOneErrorOneResultFinds: the rules find what they forbid, and nothing else.
func TestOneErrorOneResultFinds(t *testing.T) {
	const bad = `package bad

var ErrUnsupported = errors.New("")

var (
	errOwn, ErrTooLarge = errors.New(""), errors.New("")
	Other               = 1
)

type Optimum struct {
	Schedule    *sched.Schedule
	Cost, Lower *big.Rat
}

type Plan struct{ Schedule *sched.Schedule }

type state struct {
	best *sched.Schedule
	cost *big.Rat
}
`
	f, err := parser.ParseFile(token.NewFileSet(), "bad.go", bad, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(errorsOf(f), resultsOf(f)); got != "[ErrUnsupported ErrTooLarge] [Optimum]" {
		t.Error(got)
	}
}
