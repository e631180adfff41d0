package throughput

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"yardstick/datasets/tracetest"
)

func example() Params {
	return Params{AlphaGrad: 0.05, BetaGrad: 0.004, Local: Sync{true, 0.02, 0.003}, Node: Sync{true, 0.08, 0.006}, Gamma: 2.5}
}

// grid returns the model's times at many configurations, times a factor
// exp(noise·z) with z standard normal.
func grid(p Params, noise float64, seed uint64) []Measurement {
	r := rand.New(rand.NewPCG(seed, 1))
	var rows []Measurement
	for _, nk := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 8}, {2, 2}, {2, 4}, {2, 8}, {4, 4}, {4, 16}, {8, 32}} {
		for _, m := range []int{4, 8, 16, 32, 64, 128} {
			at := Point{nk[0], nk[1], m}
			rows = append(rows, Measurement{at, p.iterTime(at) * math.Exp(noise*r.NormFloat64())})
		}
	}
	return rows
}

func TestIterTime(t *testing.T) {
	p := example()
	p.Gamma = 1
	near := func(at Point, want float64) {
		t.Helper()
		if got, err := p.IterTime(at); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: %v, %v, want %v", at, got, err, want)
		}
	}
	near(Point{1, 1, 10}, 0.09)
	near(Point{1, 2, 10}, 0.09+0.02)
	near(Point{1, 4, 10}, 0.09+0.02+2*0.003)
	near(Point{2, 2, 10}, 0.09+0.08)
	near(Point{2, 5, 10}, 0.09+0.08+3*0.006)
	p.Gamma = 2
	near(Point{2, 2, 10}, math.Hypot(0.09, 0.08))
	for _, bad := range []Point{{0, 1, 1}, {2, 1, 1}, {1, 1, 0}} {
		if _, err := p.IterTime(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	p.Node.Known = false
	if _, err := p.IterTime(Point{2, 2, 1}); !errors.Is(err, ErrNotMeasured) {
		t.Error(err)
	}
	// Powers of extreme times neither overflow nor vanish.
	p = Params{AlphaGrad: 1e200, Local: Sync{true, 1e200, 0}, Gamma: 10}
	if got, err := p.IterTime(Point{1, 2, 1}); err != nil || math.Abs(got/1e200-math.Pow(2, 0.1)) > 1e-12 {
		t.Error(got, err)
	}
}

// Without noise the parameters come back; with noise, the times do.
func TestFitRecoversParameters(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		between := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
		want := Params{AlphaGrad: between(0.01, 1), BetaGrad: between(1e-4, 0.01), Gamma: 1.2 + 3*r.Float64()}
		want.Local = Sync{true, want.AlphaGrad * between(0.2, 1), want.AlphaGrad * between(0.02, 0.2)}
		want.Node = Sync{true, want.AlphaGrad * between(0.5, 3), want.AlphaGrad * between(0.02, 0.2)}
		got, q, err := Fit(grid(want, 0, seed))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if q.LogRMSE > 1e-5 || !(q.R2 > 0.999999) {
			t.Errorf("seed %d: %v", seed, q)
		}
		for name, pair := range map[string][2]float64{"alpha grad": {got.AlphaGrad, want.AlphaGrad}, "beta grad": {got.BetaGrad, want.BetaGrad},
			"alpha local": {got.Local.Alpha, want.Local.Alpha}, "beta local": {got.Local.Beta, want.Local.Beta},
			"alpha node": {got.Node.Alpha, want.Node.Alpha}, "beta node": {got.Node.Beta, want.Node.Beta}, "gamma": {got.Gamma, want.Gamma}} {
			if math.Abs(pair[0]/pair[1]-1) > 0.01 {
				t.Errorf("seed %d: %s is %v, want %v (%v)", seed, name, pair[0], pair[1], q)
			}
		}
		noisy := grid(want, 0.05, seed)
		_, q, err = Fit(noisy)
		truth, _ := want.Evaluate(noisy)
		if err != nil || q.LogRMSE > truth.LogRMSE {
			t.Errorf("seed %d: the fit is worse than the truth: %v against %v, %v", seed, q, truth, err)
		}
	}
}

func TestFitScales(t *testing.T) {
	rows := grid(example(), 0.02, 3)
	slow := append([]Measurement(nil), rows...)
	for i := range slow {
		slow[i].Seconds *= 1000
	}
	a, qa, err := Fit(rows)
	if err != nil {
		t.Fatal(err)
	}
	b, qb, err := Fit(slow)
	if err != nil || math.Abs(qa.LogRMSE-qb.LogRMSE) > 1e-6 || math.Abs(b.AlphaGrad/a.AlphaGrad/1000-1) > 0.01 || math.Abs(a.Gamma-b.Gamma) > 0.05 {
		t.Errorf("%+v (%v)\n%+v (%v) %v", a, qa, b, qb, err)
	}
}

func TestGradient(t *testing.T) {
	f := &objective{grid(example(), 0.3, 5)}
	r := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		p := example()
		x := f.coordinates(&p)
		for i := range x {
			x[i] += r.NormFloat64()
		}
		got := make([]float64, coordinates)
		f.gradient(got, x)
		want := fd.Gradient(nil, f.value, x, &fd.Settings{Formula: fd.Central})
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
				t.Errorf("coordinate %d at %v: %v, by differences %v", i, x, got[i], want[i])
			}
		}
	}
}

func TestFitOfPart(t *testing.T) {
	var single []Measurement
	for _, m := range grid(example(), 0.01, 9) {
		if m.Nodes == 1 {
			single = append(single, m)
		}
	}
	p, q, err := Fit(single)
	if err != nil || p.Node != (Sync{}) || !p.Local.Known || q.LogRMSE > 0.02 {
		t.Errorf("%+v, %v, %v", p, q, err)
	}
	for name, rows := range map[string][]Measurement{
		"none":      nil,
		"few":       single[:6],
		"one batch": {single[0], single[0], single[0], single[0], single[0], single[0], single[0], single[0]},
		"zero":      append([]Measurement{{Point{1, 1, 1}, 0}}, single...),
		"no server": append([]Measurement{{Point{0, 1, 1}, 1}}, single...),
	} {
		if _, _, err := Fit(rows); err == nil || !strings.HasPrefix(err.Error(), "throughput: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadFile(t *testing.T) {
	for name, data := range map[string]string{
		"placements":  "placement,local_bsz,step_time,sync_time\n1,4,0.5,0\n13,6,1.5,0.1\n",
		"scalability": "local_bsz,step_time,num_nodes,num_replicas\n4,0.5,1,1\n6,1.5,2,4\n",
	} {
		rows, err := ReadFile(tracetest.Write(t, "a.csv", tracetest.Gzip(t, []byte(data))))
		want := fmt.Sprint([]Measurement{{Point{1, 1, 4}, 0.5}, {Point{2, 4, 6}, 1.5}})
		if err != nil || fmt.Sprint(rows) != want {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	head := "placement,local_bsz,step_time\n1,4,0.5\n"
	for name, c := range map[string][2]string{
		"column":    {"local_bsz,step_time\n", "has no column num_nodes"},
		"placement": {head + "1.3,4,1\n", `line 3: column placement: "1.3" is not a placement`},
		"empty":     {head + ",4,1\n", "line 3: 0 replicas on 0 servers"},
		"batch":     {head + "1,4.5,1\n", `line 3: column local_bsz: is "4.5"`},
		"time":      {head + "1,4,0\n", "line 3: column step_time: is 0"},
		"replicas":  {"num_nodes,num_replicas,local_bsz,step_time\n4,2,1,1\n", "line 2: 2 replicas on 4 servers"},
	} {
		_, err := ReadFile(tracetest.Write(t, "a.csv", []byte(c[0])))
		if err == nil || !strings.HasPrefix(err.Error(), "throughput: ") || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add([]byte("placement,local_bsz,step_time,sync_time\n1,4,0.5,0\n13,6,1.5,0.1\n"))
	f.Add([]byte("local_bsz,step_time,num_nodes,num_replicas\n4,0.5,1,1\n6,1.5,2,4\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := ReadFile(tracetest.Write(t, "a", data))
		for _, r := range rows {
			if err != nil || r.check() != nil || !(r.Seconds > 0) {
				t.Errorf("%+v with %v", r, err)
			}
		}
	})
}
