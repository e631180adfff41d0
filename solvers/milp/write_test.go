package milp

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"yardstick/internal/schedtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample has what the formats find difficult: a negative upper bound, a fixed
// variable, an empty row, a row and a column with one entry, an unused
// column, names that are keywords or repeated, and 17-digit numbers.
func sample() *Model {
	m := &Model{Name: "a sample", Constant: 2.5}
	a := m.AddVar(Variable{Name: "start_1", Lower: -5, Upper: -1, Cost: 1})
	b := m.AddVar(Variable{Name: "int", Upper: 10, Cost: 1. / 3, Integer: true})
	c := m.AddVar(Variable{Name: "x[1, 2]", Lower: 1e-7, Upper: 1e15, Cost: 0.1})
	d := m.AddVar(Variable{Name: "start_1", Lower: 4, Upper: 4, Cost: -1, Integer: true})
	m.AddVar(Variable{Lower: -2, Upper: 2})
	m.AddRow(Row{Name: "capacity", Cols: []int{a, b, c}, Vals: []float64{1, 0.30000000000000004, 1}, Sense: GE, RHS: 2})
	m.AddRow(Row{Name: "R1", Sense: LE, RHS: 5})
	m.AddRow(Row{Name: "e5", Cols: []int{b}, Vals: []float64{-2}, Sense: GE, RHS: -9.75})
	m.AddRow(Row{Name: "e5", Cols: []int{d, c}, Vals: []float64{1, -1}, Sense: EQ, RHS: 0})
	return m
}

func TestWritersGolden(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"sample.mps": func(b *bytes.Buffer) error { return WriteMPS(b, sample()) },
		"sample.lp":  func(b *bytes.Buffer) error { return WriteLP(b, sample()) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s:\n%s", name, got.Bytes())
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWritersReportErrors(t *testing.T) {
	if WriteMPS(failing{}, sample()) == nil || WriteLP(failing{}, sample()) == nil {
		t.Error("a failed write is not reported")
	}
}

// readMPS reads what WriteMPS writes, and nothing else.
func readMPS(t *testing.T, text string) *Model {
	t.Helper()
	m := &Model{}
	cols, rows := map[string]int{}, map[string]int{"obj": -1}
	num := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	section, integer := "", false
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		f := strings.Fields(s.Text())
		if !strings.HasPrefix(s.Text(), " ") {
			section = f[0]
			continue
		}
		switch {
		case section == "ROWS" && f[0] != "N":
			rows[f[1]] = m.AddRow(Row{Name: f[1], Sense: map[string]Sense{"L": LE, "E": EQ, "G": GE}[f[0]]})
		case section == "COLUMNS" && f[1] == "'MARKER'":
			integer = f[2] == "'INTORG'"
		case section == "COLUMNS":
			j, ok := cols[f[0]]
			if !ok {
				j = m.AddVar(Variable{Name: f[0], Integer: integer})
				cols[f[0]] = j
			}
			if i := rows[f[1]]; i < 0 {
				m.Vars[j].Cost = num(f[2])
			} else {
				m.Rows[i].Cols, m.Rows[i].Vals = append(m.Rows[i].Cols, j), append(m.Rows[i].Vals, num(f[2]))
			}
		case section == "RHS":
			m.Rows[rows[f[1]]].RHS = num(f[2])
		case section == "BOUNDS" && f[0] == "FX":
			last := len(m.Vars) - 1
			m.Constant, m.Vars = m.Vars[last].Cost, m.Vars[:last]
		case section == "BOUNDS":
			v := &m.Vars[cols[f[2]]]
			*map[string]*float64{"LO": &v.Lower, "UP": &v.Upper}[f[0]] = num(f[3])
		}
	}
	return m
}

// Reading back gives the same numbers, bit for bit.
func TestMPSRoundTrip(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := nastyModel(r)
		if seed == 0 {
			m = sample()
		}
		vars, rows := m.FileNames()
		for j := range m.Vars {
			m.Vars[j].Name, m.Vars[j].Integer = vars[j], r.IntN(2) == 0
		}
		for i := range m.Rows {
			m.Rows[i] = sorted(m.Rows[i])
			m.Rows[i].Name = rows[i]
		}
		var b bytes.Buffer
		if err := WriteMPS(&b, m); err != nil {
			t.Fatal(err)
		}
		got := readMPS(t, b.String())
		got.Name = m.Name
		if fmt.Sprintf("%+v", plain(got)) != fmt.Sprintf("%+v", plain(m)) {
			t.Fatalf("seed %d: wrote\n%+v\nread\n%+v\nfrom\n%s", seed, m, got, b.String())
		}
	}
}

func plain(m *Model) Model { // a zero that is not written loses its sign
	p := *m
	p.Constant += 0
	for i := range p.Rows {
		p.Rows[i].RHS += 0
	}
	for j := range p.Vars {
		p.Vars[j].Cost += 0
	}
	return p
}

func sorted(r Row) Row {
	at := map[int]float64{}
	last := -1
	for k, j := range r.Cols {
		at[j] = r.Vals[k]
		last = max(last, j)
	}
	r.Cols, r.Vals = nil, nil
	for j := 0; j <= last; j++ {
		if v, ok := at[j]; ok {
			r.Cols, r.Vals = append(r.Cols, j), append(r.Vals, v)
		}
	}
	return r
}

func TestFileNames(t *testing.T) {
	m := &Model{}
	for _, n := range []string{"alpha", "", "x1", "R2", "e5", "inf", "free", "Alpha", "a b", "größe", "x_1", strings.Repeat("n", 61), "end", "_a"} {
		m.AddVar(Variable{Name: n})
	}
	vars, _ := m.FileNames()
	want := "alpha x1 x2 x3 x4 x5 x6 x7 x8 x9 x_1 x11 x12 _a"
	if got := strings.Join(vars, " "); got != want {
		t.Errorf("names %s, want %s", got, want)
	}
}

// readers are the programs that read what is written here, where installed.
// %s is the model file; the pattern's group is the objective.
var readers = []struct {
	name, ext string
	args      []string
	value     *regexp.Regexp
}{
	{"lp_solve", "mps", []string{"-S3", "-fmps", "%s"}, regexp.MustCompile(`Value of objective function: (\S+)`)},
	{"lp_solve", "lp", []string{"-S3", "%s"}, regexp.MustCompile(`Value of objective function: (\S+)`)},
	{"glpsol", "mps", []string{"--freemps", "%s", "-o", "/dev/stdout"}, regexp.MustCompile(`Objective:\s+obj = (\S+)`)},
	{"cbc", "mps", []string{"%s", "-ratioGap", "0", "-allowableGap", "1e-9", "-solve"}, regexp.MustCompile(`Objective value:\s+(\S+)`)},
}

func TestOtherProgramsReadTheSameModel(t *testing.T) {
	dir := t.TempDir()
	for _, reader := range readers {
		t.Run(reader.name+"/"+reader.ext, func(t *testing.T) {
			path, err := exec.LookPath(reader.name)
			if err != nil {
				schedtest.Missing(t, "%s is not installed: internal/prepare.sh test installs it", reader.name)
			}
			solved := 0
			for seed := uint64(0); solved < 25; seed++ {
				m, best := boundedInteger(rand.New(rand.NewPCG(seed, 10)))
				if seed == 0 {
					m, best = sample(), -3.1 // at start_1 = -2, x[1, 2] = 4
				}
				if math.IsInf(best, 1) {
					continue
				}
				solved++
				if got := runReader(t, path, dir, reader.ext, reader.args, reader.value, m); math.Abs(got-best) > 1e-6*max(1, math.Abs(best)) {
					t.Errorf("seed %d: %v, want %v", seed, got, best)
				}
			}
		})
	}
}

func runReader(t *testing.T, path, dir, ext string, args []string, value *regexp.Regexp, m *Model) float64 {
	t.Helper()
	file := filepath.Join(dir, "model."+ext)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := WriteMPS
	if ext == "lp" {
		write = WriteLP
	}
	if err := write(f, m); err != nil {
		t.Fatal(err)
	}
	var full []string
	for _, a := range args {
		full = append(full, strings.ReplaceAll(a, "%s", file))
	}
	out, err := exec.Command(path, full...).CombinedOutput()
	match := value.FindSubmatch(out)
	if err != nil || match == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	v, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// boundedInteger returns a random integer program and its optimum by
// enumeration, +Inf if it is infeasible.
func boundedInteger(r *rand.Rand) (*Model, float64) {
	m := integerModel(r)
	for j := range m.Vars {
		m.Vars[j].Integer = true
	}
	best := math.Inf(1)
	points(m, func(x []float64) {
		if Check(m, x) == nil {
			best = min(best, m.Objective(x))
		}
	})
	return m, best
}
