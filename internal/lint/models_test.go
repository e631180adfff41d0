package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modelRooms are what is there for one model alone, by the start of their paths: what
// else names the model has to be edited for every model that is added. A file that names
// two models is in no room.
var modelRooms = map[string][]string{
	"gang": {"bench/errata/", "bench/hunt/gang", "bench/library/gang", "datasets/instances/gang", "internal/schedtest/plain", "solvers/exhaustive/problem"},
	"elastic": {"bench/catalogue/elastic", "bench/errata/", "bench/hunt/elastic", "bench/library/elastic", "bounds/certify/elastic", "bounds/certify/searchelastic", "datasets/instances/elastic",
		"formulate/elastic/", "formulate/maxweight/", "heuristics/elastic/", "heuristics/external/elastic", "heuristics/offline/reinsert/", "heuristics/primaldual/", "heuristics/sim/containers", "internal/schedtest/elastic",
		"sched/elastic", "sched/verify/elastic"},
	"preemptive": {"bench/errata/", "bench/hunt/preemptive", "bench/library/preemptive", "bench/reproduce/lazer", "datasets/instances/preemptive"},
	"sharing": {"bench/errata/", "bench/hunt/sharing", "bench/library/sharing", "bounds/certify/malleable", "bounds/certify/sharing", "bounds/sharing", "datasets/instances/sharing",
		"heuristics/sharing/", "internal/schedtest/sharing", "solvers/exhaustive/sharing/"},
}

// mostModelFiles is how many files outside its own rooms may name a model.
const mostModelFiles = 12

// modelData are the fields of instances and jobs, and their types, that a model has for
// itself. Of the model in the architecture's list they count as its name.
var modelData = map[string][]string{"elastic": {"Elastic", "ElasticTypes"}}

// TestModelFiles counts the files that have to know each model, and compares them with
// docs/architecture.md for the one whose files are listed there.
func TestModelFiles(t *testing.T) {
	constants := modelConstants(t)
	naming := map[string][]string{} // by model, the files that name it
	used := map[string]bool{}       // rooms
	for _, p := range packages(t) {
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			name := p.path() + "/" + file
			found := modelsIn(f, constants)
			for _, model := range found {
				if len(found) == 1 {
					if room := roomOf(name, model); room != "" {
						used[model+" "+room] = true
						continue
					}
				}
				naming[model] = append(naming[model], name)
			}
		}
	}
	for _, model := range constants {
		files := naming[model]
		t.Logf("%s: %d files outside its own rooms: %s", model, len(files), strings.Join(files, " "))
		if len(files) > mostModelFiles {
			t.Errorf("%d files outside its own rooms name the %s model, at most %d may: make it a row of a table, or ask for a property, as of sched.Model:\n%s",
				len(files), model, mostModelFiles, strings.Join(files, "\n"))
		}
		if len(files) < 3 {
			t.Errorf("%v alone name the %s model: the test has lost its subject", files, model)
		}
		for _, room := range modelRooms[model] {
			if !used[model+" "+room] {
				t.Errorf("nothing in %s names the %s model: it is no room of its own", room, model)
			}
		}
		if modelData[model] == nil {
			continue
		}
		if listed := listedModelFiles(t); !slices.Equal(listed, files) {
			t.Errorf("docs/architecture.md lists\n%s\nas files that know the %s model, and these do:\n%s", strings.Join(listed, "\n"), model, strings.Join(files, "\n"))
		}
	}
}

func roomOf(file, model string) string {
	for _, room := range modelRooms[model] {
		if strings.HasPrefix(file, room) {
			return room
		}
	}
	return ""
}

// listedModelFiles are those in the table of the page's section on models, in order.
func listedModelFiles(t *testing.T) (list []string) {
	t.Helper()
	data, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "## To add a model")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z/]+\\.go)` \\|").FindAllStringSubmatch(section, -1) {
		list = append(list, row[1])
	}
	slices.Sort(list)
	return list
}

// modelConstants are the models, by the names of their constants.
func modelConstants(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../sched/model.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Model" {
				constants[spec.Names[0].Name] = text(spec.Values[0])
			}
		}
		return true
	})
	if len(constants) < 4 {
		t.Fatalf("sched/model.go has the models %v", constants)
	}
	return constants
}

// text is the value of a literal of text, and "" of anything else.
func text(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	return ""
}

// modelsIn lists the models that a file names: by their constants, by what they have for
// themselves, or by text that is compared, converted or made a field.
func modelsIn(f *ast.File, constants map[string]string) []string {
	imports := map[string]bool{}
	for _, imp := range f.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		imports[filepath.Base(path)] = true
	}
	found := map[string]bool{}
	spelled := func(list ...ast.Expr) {
		for _, e := range list {
			for _, model := range constants {
				found[model] = found[model] || text(e) == model
			}
		}
	}
	data := func(name string) {
		for model, names := range modelData {
			found[model] = found[model] || slices.Contains(names, name)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if model := constants[n.Name]; model != "" {
				found[model] = true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); !ok || !imports[x.Name] || x.Name == "sched" {
				data(n.Sel.Name)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				spelled(n.X, n.Y)
			}
		case *ast.CaseClause:
			spelled(n.List...)
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Model" {
				spelled(n.Args...)
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Model" {
				spelled(n.Value)
			}
		}
		return true
	})
	maps.DeleteFunc(found, func(_ string, named bool) bool { return !named })
	return slices.Sorted(maps.Keys(found))
}

func TestModelsIn(t *testing.T) {
	constants := map[string]string{"ModelGang": "gang", "ModelElastic": "elastic"}
	for body, want := range map[string][]string{
		"in.Model = sched.ModelGang":            {"gang"},
		"if in.Model == ModelElastic {}":        {"elastic"},
		"if in.Model != `gang` {}":              {"gang"},
		"switch m { case `elastic`, `gang`: }":  {"elastic", "gang"},
		"m := sched.Model(`gang`); _ = m":       {"gang"},
		"_ = sched.Instance{Model: `elastic`}":  {"elastic"},
		"if j.Elastic != nil {}":                {"elastic"},
		"if in.Jobs[0].Elastic.Ring {}":         {"elastic"},
		"_ = sched.ElasticTypes{}":              {"elastic"},
		"_ = instances.Elastic(w)":              {},
		"f(`gang`); _ = map[string]int{`a`: 1}": {},
		"if in.Model.Gangs() {}":                {},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nimport (\"yardstick/datasets/instances\"; \"yardstick/sched\")\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := modelsIn(f, constants); !slices.Equal(got, want) {
			t.Errorf("%s: names %v, want %v", body, got, want)
		}
	}
}
