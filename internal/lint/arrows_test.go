package lint

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stages are the packages under bench and, of those in filed, the files, by the way of
// the data: what comes later may use what comes before. A use the other way round is an
// upward arrow: whoever reads the one has to know the other first.
var stages = slices.Concat(
	// The forms in which results are kept use nothing else.
	[]string{"bench/record", "bench/journal", "bench/sandbox"},
	// A suite's text becomes places, types, what they may say together, and instances.
	filesOf("bench/suite", "nearest", "kinds", "place", "size", "yaml", "ref", "matrix", "sharing", "suite", "models", "modelkeys", "names", "validate", "sweep", "beside", "only", "set", "read", "schema",
		"generated", "kept", "budget", "instances"),
	// Methods and instances make a plan, a plan cells, cells results, which are stored.
	filesOf("bench", "method", "theorems", "methods", "certify", "prove", "plan", "planfile", "claim", "failure", "cell", "stored", "store", "timing", "progress", "run", "finished"),
	[]string{"bench/children"},
	// Results become rows with denominators, and rows what people read.
	filesOf("bench/tables", "units", "standing", "fastest", "theorems", "events", "rows", "segments", "recheck"),
	[]string{"bench/explain", "bench/report/chart", "bench/report", "bench/compare"},
	// Methods by name stand above all that they are made of, and below what runs them
	// beside suites.
	[]string{"bench/placing", "bench/score/logs", "bench/score", "bench/errata", "bench/catalogue", "bench/library", "bench/hunt", "bench/reproduce"},
)

// filed are the packages whose files are stages of their own.
var filed = []string{"bench", "bench/suite", "bench/tables"}

func filesOf(pkg string, names ...string) []string {
	for i := range names {
		names[i] = pkg + "/" + names[i] + ".go"
	}
	return names
}

// mostUpward is how many upward arrows there may be.
const mostUpward = 10

// arrow is a use of something of one stage by another.
type arrow struct{ from, to string }

// TestUpwardArrows counts the arrows between the stages that run against their order.
func TestUpwardArrows(t *testing.T) {
	arrows, nodes := arrowsUnder(t, "bench")
	if unknown := slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return slices.Contains(stages, n) }); len(unknown) > 0 {
		t.Errorf("no stages: %v: give them their place in the order", unknown)
	}
	if gone := slices.DeleteFunc(slices.Clone(stages), func(s string) bool { return slices.Contains(nodes, s) }); len(gone) > 0 {
		t.Errorf("these stages are no more: %v", gone)
	}
	if !slices.Contains(arrows, arrow{"bench/run.go", "bench/store.go"}) || !slices.Contains(arrows, arrow{"bench/hunt", "bench/catalogue"}) {
		t.Error("known arrows are missing: the test has lost its subject")
	}
	up := upward(arrows)
	t.Logf("%d of %d arrows run upward", len(up), len(arrows))
	for _, a := range up {
		t.Logf("%s uses %s, which is a later stage", a.from, a.to)
	}
	if len(up) > mostUpward {
		t.Errorf("%d arrows run upward, at most %d may (-v lists them): move what is used to an earlier stage", len(up), mostUpward)
	}
}

// upward returns the arrows to later stages.
func upward(arrows []arrow) []arrow {
	return slices.DeleteFunc(slices.Clone(arrows), func(a arrow) bool { return slices.Index(stages, a.from) > slices.Index(stages, a.to) })
}

// The order tells up from down.
func TestUpward(t *testing.T) {
	down := []arrow{{"bench/run.go", "bench/store.go"}, {"bench/tables/rows.go", "bench/run.go"}, {"bench/hunt", "bench/record"}}
	var reversed []arrow
	for _, a := range down {
		reversed = append(reversed, arrow{a.to, a.from})
	}
	if up := upward(slices.Concat(down, reversed)); !slices.Equal(up, reversed) {
		t.Errorf("upward are %v, want %v", up, reversed)
	}
}

// arrowsUnder returns the arrows between the stages of a folder, each once, in order, and
// the stages that there are.
func arrowsUnder(t *testing.T, folder string) (arrows []arrow, nodes []string) {
	t.Helper()
	fset := token.NewFileSet()
	listed, exports := exported(t, folder)
	checked := map[string]*types.Package{}
	others := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	stageOf := func(o types.Object) string {
		if o.Pkg() == nil || checked[o.Pkg().Path()] != o.Pkg() || !o.Pos().IsValid() {
			return ""
		}
		return stage(strings.TrimPrefix(o.Pkg().Path(), module+"/"), fset.Position(o.Pos()).Filename)
	}
	found := map[arrow]bool{}
	for _, p := range listed { // in the order of imports
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
			nodes = append(nodes, stage(p.path(), name))
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importing(func(path string) (*types.Package, error) {
			if pkg := checked[path]; pkg != nil {
				return pkg, nil
			}
			return others.Import(path)
		})}
		pkg, err := conf.Check(p.ImportPath, fset, files, info)
		if err != nil {
			t.Fatal(err)
		}
		checked[p.ImportPath] = pkg
		for id, o := range info.Uses {
			from, to := stage(p.path(), fset.Position(id.Pos()).Filename), stageOf(o)
			if to != "" && from != to {
				found[arrow{from, to}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b arrow) int { return strings.Compare(a.from+" "+a.to, b.from+" "+b.to) }), slices.Compact(nodes)
}

type importing func(string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

func stage(pkg, file string) string {
	if slices.Contains(filed, pkg) {
		return pkg + "/" + filepath.Base(file)
	}
	return pkg
}

// exported lists the packages under a folder after those that they import, and the
// files with the types of all that they do.
func exported(t *testing.T, folder string) (listed []goPackage, exports map[string]string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Name,GoFiles,Export", module+"/"+folder+"/...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports = map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			goPackage
			Export string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.path() == folder || strings.HasPrefix(p.path(), folder+"/") {
			listed = append(listed, p.goPackage)
		}
	}
	return listed, exports
}
