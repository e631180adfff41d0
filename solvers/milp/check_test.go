package milp

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// tenths returns Σ_{j<10} 0.1 x_j ≤ 1 at x = 1. Ten times the float64 next to
// 0.1 exceeds 1, but adding them up in float64 gives 0.9999999999999999.
func tenths() (*Model, []float64) {
	m, x := &Model{}, []float64{}
	row := Row{Name: "sum", Sense: LE, RHS: 1}
	for j := range 10 {
		m.AddVar(Variable{Upper: 1, Integer: true})
		row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, 0.1)
		x = append(x, 1)
	}
	m.AddRow(row)
	return m, x
}

func TestCheckIsExact(t *testing.T) {
	m, x := tenths()
	naive := 0.0
	for range x {
		naive += 0.1
	}
	var v *Violation
	if err := Check(m, x); naive > 1 || !errors.As(err, &v) || v.Kind != "row" || v.Index != 0 || v.Name != "sum" || !(v.By > 0 && v.By < 1e-15) {
		t.Errorf("naive sum %v, Check: %v", naive, err)
	}
	if err := CheckWithin(m, x, 1e-9); err != nil {
		t.Errorf("within a tolerance: %v", err)
	}

	// 1e16 + 1 - 1e16 ≤ 0 is violated by 1.
	m = &Model{Vars: make([]Variable, 3), Rows: []Row{{Cols: []int{0, 1, 2}, Vals: []float64{1, 1, 1}, Sense: LE}}}
	for j, b := range []float64{1e16, 1, -1e16} {
		m.Vars[j].Lower, m.Vars[j].Upper = b, b
	}
	if err := Check(m, []float64{1e16, 1, -1e16}); !errors.As(err, &v) || math.Abs(v.By-1) > 1e-12 {
		t.Errorf("cancellation: %v", err)
	}
}

func TestCheckNamesWhatIsBroken(t *testing.T) {
	m := &Model{Vars: []Variable{{Name: "a", Lower: -1, Upper: 2, Integer: true}, {Name: "b", Upper: 1}},
		Rows: []Row{{Name: "ge", Cols: []int{0}, Vals: []float64{2}, Sense: GE, RHS: -1}, {Name: "eq", Cols: []int{1, 0}, Vals: []float64{4, 1}, Sense: EQ, RHS: 3}}}
	for _, c := range []struct {
		x    []float64
		kind string
		name string
		by   float64
	}{
		{[]float64{3, 0}, "bound", "a", 1},
		{[]float64{-3, 0}, "bound", "a", 2},
		{[]float64{0.75, 0}, "integrality", "a", 0.25},
		{[]float64{0, -0.5}, "bound", "b", 0.5},
		{[]float64{math.NaN(), 0}, "value", "a", 0},
		{[]float64{0, math.Inf(1)}, "value", "b", 0},
		{[]float64{-1, 1}, "row", "ge", 1},
		{[]float64{0, 1}, "row", "eq", 1},
		{[]float64{0, 0.5}, "row", "eq", 1},
		{[]float64{1, 0.5}, "", "", 0},
		{[]float64{2, 0.25}, "", "", 0},
	} {
		var v *Violation
		err := Check(m, c.x)
		switch {
		case c.kind == "" && err != nil:
			t.Errorf("%v: %v", c.x, err)
		case c.kind != "" && (!errors.As(err, &v) || v.Kind != c.kind || v.Name != c.name || c.kind != "value" && v.By != c.by):
			t.Errorf("%v: %v, want %s of %s by %v", c.x, err, c.kind, c.name, c.by)
		}
	}
	if Check(m, []float64{1}) == nil {
		t.Error("a point of the wrong length passes")
	}
	if err := Check(m.Relaxation(), []float64{0.5, 0.625}); err != nil {
		t.Errorf("relaxation: %v", err)
	}
	if !m.Vars[0].Integer {
		t.Error("Relaxation changed the model")
	}
}

// Check against rational arithmetic, on rows that hold with equality up to
// roundings.
func TestCheckAgreesWithRationals(t *testing.T) {
	seen := map[bool]int{}
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := &Model{}
		var x []float64
		for range 1 + r.IntN(6) {
			v := nasty(r, 40)
			m.AddVar(Variable{Lower: v - 1, Upper: v + 1})
			x = append(x, v)
		}
		row := randomRow(r, len(x), func() float64 { return nasty(r, 40) })
		exact := new(big.Rat)
		for k, j := range row.Cols {
			exact.Add(exact, new(big.Rat).Mul(rat(row.Vals[k]), rat(x[j])))
		}
		row.RHS = []float64{ratDown(exact), ratUp(exact)}[r.IntN(2)]
		m.AddRow(row)
		c := exact.Cmp(rat(row.RHS))
		holds := c == 0 || row.Sense == LE && c < 0 || row.Sense == GE && c > 0
		if err := Check(m, x); (err == nil) != holds {
			t.Fatalf("seed %d: activity - rhs has sign %d for sense %d, Check: %v", seed, c, row.Sense, err)
		}
		seen[holds]++

		for j := range m.Vars {
			m.Vars[j].Cost = nasty(r, 40)
		}
		value := m.ExactObjective(x)
		if got, best := m.Objective(x), ratUp(value); rat(got).Cmp(value) < 0 || got > up(up(best))+1e-290 {
			t.Fatalf("seed %d: objective %v of %s, at best %v", seed, got, value.FloatString(20), best)
		}
	}
	if seen[true] < 1000 || seen[false] < 1000 {
		t.Errorf("the test says little: %v", seen)
	}
}

func TestCertifyRoundsIntegers(t *testing.T) {
	m := &Model{Vars: []Variable{{Upper: 5, Integer: true}, {Upper: 5, Integer: true}},
		Rows: []Row{{Cols: []int{0, 1}, Vals: []float64{3, 2}, Sense: EQ, RHS: 12}}}
	x := []float64{1.9999999997, 3.0000000004}
	p, err := Certify(m, x)
	if err != nil || p[0] != 2 || p[1] != 3 || x[0] == 2 {
		t.Errorf("Certify = %v, %v; argument now %v", p, err, x)
	}
	if p, err = Certify(m, []float64{-1e-12, 5.0001}); err == nil || math.Signbit(p[0]) || p[1] != 5 {
		t.Errorf("Certify = %v, %v", p, err)
	}
}

// A makespan variable T ≥ Σ w_j x_j that a solver left just below the sum.
func TestCertifyPushesTheMakespan(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 8))
		m := &Model{}
		top := m.AddVar(Variable{Name: "T", Upper: 1e9, Cost: 1})
		x := []float64{0}
		for range 5 {
			m.AddVar(Variable{Upper: 1, Integer: true})
			x = append(x, float64(r.IntN(2))+r.NormFloat64()*1e-10)
		}
		scale := math.Exp(r.NormFloat64() * 3)
		for range 3 {
			row := Row{Cols: []int{top}, Vals: []float64{scale}, Sense: GE}
			load := 0.0
			for j := 1; j <= 5; j++ {
				w := r.Float64() * 100
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, -w)
				load += w * math.Round(x[j])
			}
			m.AddRow(row)
			x[0] = max(x[0], load/scale)
		}
		x[0] *= 1 - 1e-10*r.Float64()
		p, err := Certify(m, x)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if p[0]-x[0] > 1e-9*max(1, x[0]) {
			t.Fatalf("seed %d: T moved from %v to %v", seed, x[0], p[0])
		}
	}
}

// What no float64 satisfies stays a claim, and what is far off is not moved.
func TestCertifyLeavesClaims(t *testing.T) {
	m := &Model{Vars: []Variable{{Lower: 1, Upper: 1}, {Upper: 1}},
		Rows: []Row{{Cols: []int{0, 1}, Vals: []float64{1, -3}, Sense: EQ}}} // 3 x_1 = 1
	p, err := Certify(m, []float64{1, 1. / 3})
	if err == nil || CheckWithin(m, p, 1e-9) != nil {
		t.Errorf("Certify = %v, %v", p, err)
	}
	if p, err = Certify(m, []float64{1, 0.25}); err == nil || p[1] != 0.25 {
		t.Errorf("Certify moved a point that misses by 0.25: %v, %v", p, err)
	}
}

func TestValidateNamesTheFault(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	one := []Variable{{Upper: 1}}
	for name, m := range map[string]*Model{
		"NaN constant":     {Constant: nan},
		"infinite upper":   {Vars: []Variable{{Upper: inf}}},
		"lp infinity":      {Vars: []Variable{{Upper: 1e30}}},
		"NaN lower":        {Vars: []Variable{{Lower: nan}}},
		"NaN cost":         {Vars: []Variable{{Cost: nan}}},
		"crossed":          {Vars: []Variable{{Lower: 1}}},
		"infinite rhs":     {Vars: one, Rows: []Row{{RHS: inf}}},
		"NaN rhs":          {Vars: one, Rows: []Row{{RHS: nan}}},
		"NaN coefficient":  {Vars: one, Rows: []Row{{Cols: []int{0}, Vals: []float64{nan}}}},
		"out of range":     {Vars: one, Rows: []Row{{Cols: []int{1}, Vals: []float64{1}}}},
		"negative column":  {Vars: one, Rows: []Row{{Cols: []int{-1}, Vals: []float64{1}}}},
		"duplicate column": {Vars: one, Rows: []Row{{Cols: []int{0, 0}, Vals: []float64{1, 1}}}},
		"ragged":           {Vars: one, Rows: []Row{{Cols: []int{0}}}},
		"sense":            {Vars: one, Rows: []Row{{Sense: 2}}},
	} {
		if m.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestResultValidate(t *testing.T) {
	x := []float64{1}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		r    Result
		good bool
	}{
		"nothing":          {*NoResult(TimeLimit), true},
		"optimal":          {Result{Optimal, Proven, Proven, x, 1, 1, nil, "", Stats{}}, true},
		"infeasible":       {Result{Infeasible, None, Claimed, nil, inf, inf, nil, "", Stats{}}, true},
		"limit with both":  {Result{TimeLimit, Proven, Proven, x, 3, 1, nil, "", Stats{}}, true},
		"infeasible point": {Result{Infeasible, Claimed, Claimed, x, 1, inf, nil, "", Stats{}}, false},
		"infeasible bound": {Result{Infeasible, None, Claimed, nil, inf, 3, nil, "", Stats{}}, false},
		"no bound":         {Result{Optimal, Proven, None, x, 1, -inf, nil, "", Stats{}}, false},
		"no point":         {Result{Optimal, None, Proven, nil, inf, 1, nil, "", Stats{}}, false},
		"point unclaimed":  {Result{TimeLimit, None, None, x, 1, -inf, nil, "", Stats{}}, false},
		"crossed":          {Result{Optimal, Proven, Proven, x, 1, 2, nil, "", Stats{}}, false},
		"NaN":              {Result{TimeLimit, None, None, nil, math.NaN(), -inf, nil, "", Stats{}}, false},
		"NaN in point":     {Result{TimeLimit, Claimed, None, []float64{math.NaN()}, 1, -inf, nil, "", Stats{}}, false},
		"bound unclaimed":  {Result{TimeLimit, None, None, nil, inf, 3, nil, "", Stats{}}, false},
	} {
		if err := c.r.Validate(); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
