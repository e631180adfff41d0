package lint

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exactPackages are those whose integers decide what is true, with the file of the
// checked operations in which alone raw ones may be.
var exactPackages = map[string]string{"bounds/certify": "checked.go"}

// TestExactArithmetic: where integers decide what is true, no operation wraps around.
func TestExactArithmetic(t *testing.T) {
	for _, p := range packages(t) {
		if checked, ok := exactPackages[p.path()]; ok {
			if !slices.Contains(p.GoFiles, checked) {
				t.Errorf("package %s has no file %s", p.path(), checked)
			}
			sources := map[string]string{}
			for _, file := range p.GoFiles {
				src, err := os.ReadFile(filepath.Join(p.Dir, file))
				if err != nil {
					t.Fatal(err)
				}
				sources[file] = string(src)
			}
			for _, x := range rawArithmetic(t, p.ImportPath, sources, checked) {
				t.Errorf("%s/%s", p.path(), x)
			}
		}
	}
}

// TestExactArithmeticFinds: the rules find what they forbid, and nothing else.
func TestExactArithmeticFinds(t *testing.T) {
	const bad = `package bad

import "math/big"

type Time int64

const fine = 4*16 + 1<<20

func all(a, b int64, t Time, n, m int, f float64, u uint64, big *big.Int, list []int) {
	_ = a * b // no: product
	a *= 2 // no: product
	_ = n * m // no: product
	_ = int64(n) << 3 // no: shift
	_ = 1 << n // no: shift
	_ = a + b // no: sum
	_ = t - 1 // no: sum
	a++ // no: sum
	a -= b // no: sum
	_ = -a // no: sum
	_ = u - 1 // no: sum
	_ = int64(f) // no: float
	_ = int8(n) // no: narrow
	_ = uint32(a) // no: narrow
	_ = int64(u) // no: narrow
	_ = big.Int64() // no: Int64
	_ = 1 << 3
	_ = n + m - 1
	_ = list[n+1:]
	n++
	_ = f*f + float64(n)
	_ = a / b
	_ = a >> 3 & 1
	_ = int64(n)
	_ = uint64(a)
	_ = big.IsInt64()
	_ = fine * 2
}
`
	var want []string
	for i, line := range strings.Split(bad, "\n") {
		if _, what, ok := strings.Cut(line, "// no: "); ok {
			want = append(want, fmt.Sprintf("bad.go:%d %s", i+1, what))
		}
	}
	sources := map[string]string{"bad.go": bad, "good.go": "package bad\n\nfunc add(a, b int64) int64 { return a * b }\n"}
	var got []string
	for _, x := range rawArithmetic(t, "bad", sources, "good.go") {
		at, what, _ := strings.Cut(x, ": ")
		got = append(got, at[:strings.LastIndex(at, ":")]+" "+strings.Fields(what)[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// rawArithmetic returns what may wrap around or lose digits in the sources of a
// package, but for those of one file, with file, line and column. It decides by the
// types of the operands, as the compiler sees them:
//
//   - product: of integers of any type; shift: to the left, likewise;
//   - sum: sums, differences and negations of integers of any type but int, which
//     is for indices and for counts of what is in memory;
//   - float: conversions of floating point to integers;
//   - narrow: conversions of integers to types of fewer bits, or from unsigned to
//     signed ones of as many; int has 64 bits;
//   - Int64: (*big.Int).Int64 and Uint64, whose results are undefined if they do not fit.
//
// Constants are the compiler's to check.
func rawArithmetic(t *testing.T, path string, sources map[string]string, checked string) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for name, src := range sources {
		f, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: exportData(t, fset), Sizes: types.SizesFor("gc", "amd64")}
	if _, err := config.Check(path, fset, files, info); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b *ast.File) int {
		return strings.Compare(fset.Position(a.Pos()).Filename, fset.Position(b.Pos()).Filename)
	})
	for _, f := range files {
		if fset.Position(f.Pos()).Filename == checked {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if what := rawOperation(info, config.Sizes, n); what != "" {
				found = append(found, fmt.Sprintf("%v: %s: use the checked operations of %s", fset.Position(n.Pos()), what, checked))
			}
			return true
		})
	}
	return found
}

// rawOperation says what is wrong with a node, or "".
func rawOperation(info *types.Info, sizes types.Sizes, n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if info.Types[n].Value == nil {
			return rawOperator(n.Op, info.TypeOf(n))
		}
	case *ast.AssignStmt:
		operators := map[token.Token]token.Token{token.MUL_ASSIGN: token.MUL, token.SHL_ASSIGN: token.SHL, token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB}
		if op, ok := operators[n.Tok]; ok {
			return rawOperator(op, info.TypeOf(n.Lhs[0]))
		}
	case *ast.IncDecStmt:
		return rawOperator(token.ADD, info.TypeOf(n.X))
	case *ast.UnaryExpr:
		if n.Op == token.SUB && info.Types[n].Value == nil {
			return rawOperator(token.SUB, info.TypeOf(n))
		}
	case *ast.CallExpr:
		if len(n.Args) == 1 && info.Types[n.Fun].IsType() && info.Types[n].Value == nil {
			return rawConversion(sizes, info.TypeOf(n.Args[0]), info.TypeOf(n))
		}
	case *ast.SelectorExpr:
		if f, ok := info.Uses[n.Sel].(*types.Func); ok && (f.FullName() == "(*math/big.Int).Int64" || f.FullName() == "(*math/big.Int).Uint64") {
			return "Int64 of what may not fit"
		}
	}
	return ""
}

func rawOperator(op token.Token, t types.Type) string {
	b, ok := t.Underlying().(*types.Basic)
	switch {
	case !ok || b.Info()&types.IsInteger == 0:
	case op == token.MUL:
		return fmt.Sprintf("product of %v", t)
	case op == token.SHL:
		return fmt.Sprintf("shift of %v", t)
	case (op == token.ADD || op == token.SUB) && t != types.Typ[types.Int]:
		return fmt.Sprintf("sum of %v", t)
	}
	return ""
}

func rawConversion(sizes types.Sizes, from, to types.Type) string {
	a, okA := from.Underlying().(*types.Basic)
	b, okB := to.Underlying().(*types.Basic)
	switch {
	case !okA || !okB || b.Info()&types.IsInteger == 0:
	case a.Info()&types.IsFloat != 0:
		return fmt.Sprintf("float that becomes %v", to)
	case a.Info()&types.IsInteger == 0:
	case sizes.Sizeof(b) < sizes.Sizeof(a), sizes.Sizeof(b) == sizes.Sizeof(a) && a.Info()&types.IsUnsigned != 0 && b.Info()&types.IsUnsigned == 0:
		return fmt.Sprintf("narrow result: %v becomes %v", from, to)
	}
	return ""
}

// exportData imports what the packages of the module import, from what the go
// command has compiled.
func exportData(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for path := range exactPackages {
		args = append(args, module+"/"+path)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	compiled := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		compiled[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
}
