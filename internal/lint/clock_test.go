package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clockUses names, by file, how many times a test waits for the clock or reads it,
// and why that cannot fail on a busy machine. Whoever adds one says so here.
var clockUses = map[string]struct {
	uses int
	why  string
}{
	"bench/children/children_test.go":       {7, "children that hang until they are killed; interrupted cells are skipped however far they are; polls for a file"},
	"bench/record/record_test.go":           {1, "so that two times of writing differ"},
	"bench/report/browser_test.go":          {1, "ends a browser that hangs, after minutes"},
	"cmd/bench/environment_test.go":         {1, "polls for an event"},
	"cmd/bench/external_test.go":            {2, "polls for finished cells, to kill, and for the end of what was killed"},
	"cmd/bench/hunt_test.go":                {1, "interrupts at any moment, even after the end"},
	"cmd/bench/interrupt_test.go":           {2, "polls for signs of progress"},
	"cmd/bench/resume_test.go":              {4, "kills at any moment; polls for an event"},
	"cmd/bench/slurm_test.go":               {10, "polls for events for minutes"},
	"cmd/bench/starts_test.go":              {3, "a solver that hangs until it is killed"},
	"datasets/damage_test.go":               {2, "a cap of a minute on milliseconds"},
	"datasets/fetch/hostile_test.go":        {3, "a server that drips; a pause that is no shorter than asked for"},
	"formulate/placement/placement_test.go": {2, "logged only"},
	"internal/attack/attack_test.go":        {1, "a command that hangs, after minutes"},
	"internal/attack/kills_test.go":         {4, "kills at any moment, even after the end; polls for the end of processes"},
	"solvers/external/external_test.go":     {2, "killed later than at once, minutes before the end"},
	"solvers/isolate/isolate_test.go":       {5, "polls for events; caps of minutes"},
	"solvers/isolate/solvers_test.go":       {4, "solvers that hang until they are killed"},
	"solvers/lpsolve/limits_test.go":        {5, "tries for two minutes to be on time once"},
}

// TestClock: tests do not depend on the clock or the machine's load, except where
// clockUses says why they may look at it. Benchmarks may.
func TestClock(t *testing.T) {
	calls := []string{"time.Now", "time.Since", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
		"context.WithTimeout", "context.WithDeadline"}
	found := map[string]int{}
	for _, p := range packages(t) {
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "bench_test.go") {
				continue
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Benchmark") {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					s, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if x, ok := s.X.(*ast.Ident); ok && slices.Contains(calls, x.Name+"."+s.Sel.Name) {
						name := p.path() + "/" + file
						if found[name]++; found[name] > clockUses[name].uses {
							t.Errorf("%s: %s.%s in a test: make the event deterministic, or say in clockUses why a busy machine cannot make it fail", fset.Position(s.Pos()), x.Name, s.Sel.Name)
						}
					}
					return true
				})
			}
		}
	}
	for name, use := range clockUses {
		if found[name] < use.uses {
			t.Errorf("clockUses has %d uses in %s, where there are %d", use.uses, name, found[name])
		}
	}
}
