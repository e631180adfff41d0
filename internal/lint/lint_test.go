// Package lint holds the tests that keep the tree's structure: which package
// may import which, and what no package may do.
package lint

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "yardstick"

// allowed is the import table. A key covers the package and everything below
// it unless a longer key matches. A value ending in /... covers a subtree. A
// package may always import its own parents, and its own subtree where the
// table says so.
var allowed = map[string][]string{
	"sched":                  {},
	"sched/verify":           {"sched"},
	"sched/heavyedge":        {"sched"},
	"heuristics/forest":      {"sched"},
	"heuristics/gaussian":    {"sched"},
	"datasets":               {"sched", "datasets/...", "sched/heavyedge"},
	"solvers/milp":           {},
	"solvers/lpsolve":        {"solvers/milp"},
	"solvers/external":       {"solvers/milp"},
	"solvers/branch":         {"solvers/milp"},
	"solvers/colgen":         {"solvers/milp"},
	"solvers/isolate":        {"solvers/milp", "internal/program"},
	"solvers/solvertest":     {"solvers/milp", "internal/tier"},
	"solvers/partition":      {"sched", "solvers/milp", "sched/heavyedge"},
	"bounds":                 {"sched", "solvers/milp", "solvers/partition", "bounds/..."},
	"bounds/certify":         {"sched"}, // it shares no code with what it checks
	"bounds/proof/treecheck": {},        // nor does this; it knows problems and proofs by their texts
	"solvers/exact":          {"sched", "solvers/milp"},
	"solvers/exhaustive":     {"sched", "solvers/milp", "solvers/exact", "solvers/partition", "bounds"},
	"formulate/sharing":      {"sched", "solvers/milp", "solvers/exact", "solvers/exhaustive/sharing"}, // the program is limited by what the search finds quickly
	"formulate":              {"sched", "solvers/milp", "solvers/exact", "solvers/partition", "bounds"},
	"formulate/maxweight":    {"sched", "solvers/milp", "solvers/exact", "solvers/colgen", "bounds", "formulate/maxweight/..."},
	"formulate/elastic":      {"sched", "solvers/milp", "solvers/exact", "solvers/colgen", "bounds", "formulate/maxweight/..."},
	"heuristics/sim":         {"sched"},
	"heuristics": {"sched", "heuristics/sim", "sched/heavyedge", "heuristics/forest", "heuristics/gaussian",
		"solvers/milp", "solvers/partition"},
	"heuristics/offline": {"sched", "solvers/partition", "bounds"}, // prices are those of a bound
	// Searches beyond class N share the loop; that of elastic jobs prices their schedules.
	"heuristics/offline/walk":     {"sched"},
	"heuristics/offline/pairs":    {"sched", "heuristics/offline/walk"},
	"heuristics/offline/reinsert": {"sched", "heuristics/offline/walk", "formulate/maxweight/..."},
	"heuristics/sharing":          {"sched", "heuristics/sim", "bounds/theorems"},
	"heuristics/ranked":           {"sched", "heuristics/sim", "heuristics/listsched"},
	// These two price the schedules of elastic jobs, which package maxweight does exactly.
	"heuristics/elastic":    {"sched", "heuristics/sim", "formulate/maxweight/..."},
	"heuristics/primaldual": {"sched", "heuristics/primaldual/mincost", "heuristics/sim", "heuristics/elastic", "solvers/milp", "formulate/maxweight/..."},
	"bench/suite": {"sched", "datasets", "datasets/instances", "datasets/generate", "datasets/interference", "datasets/profile",
		"bench/record"},
	"bench":            {"sched/...", "formulate/...", "solvers/...", "bounds/...", "heuristics/sim", "bench/record", "bench/journal", "bench/suite"},
	"bench/journal":    {},
	"bench/tables":     {"sched/...", "bounds/...", "solvers/partition", "solvers/milp", "bench", "bench/suite", "bench/record"},
	"bench/placing":    {"sched/...", "datasets", "datasets/profile", "formulate/placement", "formulate", "solvers/...", "bench", "bench/suite", "bench/tables", "bench/record"},
	"bench/sandbox":    {},
	"bench/children":   {"sched", "bench", "bench/suite", "solvers/isolate", "solvers/milp", "internal/program"},
	"bench/record":     {},
	"bench/score":      {"sched/...", "solvers/partition", "bounds", "bench", "bench/score/..."},
	"bench/score/logs": {"bench/record", "datasets/table", "datasets/importer", "datasets/joblist"}, // it reads, and knows nothing of schedules
	"bench/explain":    {"sched"},                                                                   // of two schedules as numbers, so that reports can use it
	"bench/report":     {"bench/record", "bench/explain", "bench/report/..."},
	"bench/compare":    {"bench/record"},
	"bench/errata":     {"..."},
	"bench/catalogue":  {"..."},
	"bench/hunt":       {"sched/...", "bench", "bench/suite", "bench/catalogue", "bounds/...", "solvers/milp", "solvers/partition", "heuristics/sim"}, // methods are the catalogue's to choose
	"bench/library": {"sched/...", "datasets/importer", "datasets/instances", "datasets/generate", "bounds", "bounds/certify", "bounds/proof", "bounds/proof/tree", "bounds/proof/treecheck",
		"bench", "bench/record", "bench/suite", "bench/catalogue"},
	"bench/reproduce":     {"..."},
	"cmd/bench":           {"sched/...", "datasets/...", "formulate/...", "solvers/...", "bounds/...", "bench/...", "internal/program"},
	"internal/schedtest":  {"sched", "sched/verify"},
	"internal/strictjson": {},
	"internal/pack":       {},
	"internal/output":     {},
	"internal/latex":      {"internal/schedtest"}, // of its tests' package
	"internal/input":      {},
	"internal/program":    {},
	"internal/lint":       {},
	"internal/tier":       {},
	"internal/number":     {},
	"internal/python":     {"internal/schedtest"},
	"internal/release":    {},
	"internal/guides":     {},
	"internal/attack":     {"internal/tier"},
	"internal/notebooks":  {},
}

// everywhere are the packages that every package may import: they decide nothing.
var everywhere = []string{"internal/strictjson", "internal/pack", "internal/output", "internal/latex", "internal/input"}

// owners are the packages that alone may import a dependency.
var owners = map[string]string{
	"github.com/apache/arrow/":           "bench/record",
	"github.com/draffensperger/golp":     "solvers/lpsolve",
	"github.com/parquet-go/parquet-go":   "datasets",
	"github.com/spf13/cobra":             "cmd/bench",
	"github.com/goccy/go-yaml":           "bench/suite",
	"github.com/go-json-experiment/json": "internal/strictjson",
	"github.com/jedib0t/go-pretty":       "bench/report",
	"gonum.org/v1/plot":                  "bench/report",
	"golang.org/x/perf":                  "bench/compare",
	"honnef.co/go/tools/cmd/staticcheck": "",
}

type goPackage struct {
	ImportPath, Dir, Name      string
	GoFiles, CgoFiles, Imports []string
	TestGoFiles, TestImports   []string
	XTestGoFiles, XTestImports []string
}

func (p *goPackage) path() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// listed is what go list says of the tree, asked once for all tests.
var listed = sync.OnceValues(func() ([]byte, error) {
	cmd := exec.Command("go", "list", "-e", "-json", module+"/...")
	cmd.Dir = "../.."
	return cmd.Output()
})

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 5 {
		t.Fatalf("go list found only %d packages", len(list))
	}
	return list
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// rule returns the allowed imports of a package: those of the longest key that
// is the package or one of its parents.
func rule(pkg string) (key string, imports []string, ok bool) {
	for key = pkg; key != "." && key != ""; key = filepath.Dir(key) {
		if imports, ok = allowed[key]; ok {
			return key, imports, true
		}
	}
	return "", nil, false
}

func permitted(pkg, imported string) error {
	key, list, ok := rule(pkg)
	if !ok {
		return fmt.Errorf("package %s has no line in the import table", pkg)
	}
	if imported == "internal/number" && key != "sched" && key != "sched/verify" && key != "bounds/certify" {
		return nil // as the standard library; these three share no code with what they check
	}
	if pkg == imported || strings.HasPrefix(pkg, imported+"/") {
		return nil // a parent
	}
	if slices.Contains(everywhere, imported) {
		return nil
	}
	for _, a := range list {
		if a == "..." || a == imported {
			return nil
		}
		if tree, isTree := strings.CutSuffix(a, "/..."); isTree && (imported == tree || strings.HasPrefix(imported, tree+"/")) {
			return nil
		}
	}
	return fmt.Errorf("package %s may not import %s (line %q of the import table)", pkg, imported, key)
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			if local, ok := strings.CutPrefix(imp, module+"/"); ok {
				if err := permitted(p.path(), local); err != nil {
					t.Error(err)
				}
				continue
			}
			for prefix, owner := range owners {
				if strings.HasPrefix(imp, prefix) && p.path() != "cmd/bench" && p.path() != owner && !strings.HasPrefix(p.path(), owner+"/") {
					t.Errorf("package %s imports %s, which belongs to %s alone", p.path(), imp, owner)
				}
			}
		}
	}
}

// The independent checker stays independent in its tests too.
func TestVerifyTestsImportOnlySched(t *testing.T) {
	for _, p := range packages(t) {
		if p.path() != "sched/verify" {
			continue
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			local, ok := strings.CutPrefix(imp, module+"/")
			if ok && local != "sched" && local != "sched/verify" {
				t.Errorf("a test of sched/verify imports %s", imp)
			}
		}
	}
}

func TestTableRejects(t *testing.T) {
	for _, bad := range [][2]string{{"sched", "bounds"}, {"heuristics/sim", "bounds"}, {"formulate/timeindexed", "solvers/lpsolve"},
		{"sched/verify", "heuristics/sim"}, {"bench", "heuristics/listsched"}, {"bench/report", "sched"}, {"bench/hunt", "solvers/exhaustive"}, {"cmd/bench", "heuristics/listsched"}, {"newcomer", "sched"}} {
		if permitted(bad[0], bad[1]) == nil {
			t.Errorf("the table lets %s import %s", bad[0], bad[1])
		}
	}
}

// looseJSON are the files that may read JSON by package encoding/json, which takes a
// key that is there twice or in another case, and why.
var looseJSON = map[string]string{
	"cmd/bench/complete.go":          "reads the schema that the program has just made",
	"datasets/importer/json.go":      "cuts long files of other programs into values, which strictjson decodes",
	"datasets/interference/gavel.go": "reads token by token, refuses repeated keys itself, and all its keys are data",
}

// What is read as evidence has one meaning or none.
func TestStrictJSON(t *testing.T) {
	unused := maps.Clone(looseJSON)
	for _, p := range packages(t) {
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			name := p.path() + "/" + file
			for _, call := range readsJSON(f) {
				if looseJSON[name] == "" {
					t.Errorf("%s: %s takes repeated keys and keys in another case: use internal/strictjson", fset.Position(call.Pos()), call.Sel.Name)
				}
				delete(unused, name)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s reads no JSON by package encoding/json: drop its exception", name)
	}
}

// readsJSON lists the uses of package encoding/json that decode.
func readsJSON(f *ast.File) []*ast.SelectorExpr {
	local := ""
	for _, imp := range f.Imports {
		if imp.Path.Value == `"encoding/json"` {
			local = "json"
			if imp.Name != nil {
				local = imp.Name.Name
			}
		}
	}
	var found []*ast.SelectorExpr
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && local != "" && x.Name == local && (s.Sel.Name == "Unmarshal" || s.Sel.Name == "NewDecoder") {
			found = append(found, s)
		}
		return true
	})
	return found
}

func TestReadsJSON(t *testing.T) {
	for src, want := range map[string]int{
		`package p; import "encoding/json"; var _ = json.Unmarshal`:             1,
		`package p; import j "encoding/json"; var _ = j.NewDecoder(nil)`:        1,
		`package p; import "encoding/json"; var _ = json.Marshal`:               0,
		`package p; import json "yardstick/bench"; var _ = json.Unmarshal(nil)`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readsJSON(f)); got != want {
			t.Errorf("%s: %d uses, want %d", src, got, want)
		}
	}
}

// Models read no wall clock and no global randomness; nothing registers itself
// in an init function.
func TestSource(t *testing.T) {
	mayReadClock := []string{"bench", "cmd/bench", "solvers", "datasets/fetch"}
	badNames := []string{"util", "utils", "common", "helpers", "misc"}
	const longest = 600 // lines; beyond that a file no longer holds one idea
	for _, p := range packages(t) {
		if slices.Contains(badNames, p.Name) {
			t.Errorf("package %s: the name says nothing", p.path())
		}
		clock := slices.ContainsFunc(mayReadClock, func(dir string) bool { return p.path() == dir || strings.HasPrefix(p.path(), dir+"/") })
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			name := filepath.Join(p.Dir, file)
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(src), "\n"); n > longest {
				t.Errorf("%s/%s has %d lines, more than %d", p.path(), file, n, longest)
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, src, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range f.Imports {
				path, _ := strconv.Unquote(imp.Path.Value)
				if path == "math/rand" {
					t.Errorf("%s/%s imports math/rand: use math/rand/v2 with an explicit seed", p.path(), file)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Name.Name == "init" && n.Recv == nil {
						t.Errorf("%s: init functions are not used here", fset.Position(n.Pos()))
					}
				case *ast.SelectorExpr:
					x, ok := n.X.(*ast.Ident)
					if !ok {
						break
					}
					call := x.Name + "." + n.Sel.Name
					if !clock && (call == "time.Now" || call == "time.Since") {
						t.Errorf("%s: %s in a model: inject a clock", fset.Position(n.Pos()), call)
					}
				}
				return true
			})
		}
	}
}
