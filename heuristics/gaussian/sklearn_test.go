package gaussian

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"yardstick/internal/python"
)

// sklearnCase is a case for testdata/process.py.
type sklearnCase struct {
	X       [][]float64 `json:"x"`
	Y       []float64   `json:"y"`
	Query   [][]float64 `json:"query"`
	Lengths []float64   `json:"lengths"`
	Scale   float64     `json:"scale"`
	Noise   float64     `json:"noise"`
}

// TestLikeScikitLearn: posteriors and likelihoods of scikit-learn's process
// with the same hyperparameters, and a fit that is no worse than its.
func TestLikeScikitLearn(t *testing.T) {
	interpreter := python.Interpreter(t, "sklearn")
	var cases []sklearnCase
	var processes []*Process
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dim := 1 + rng.IntN(5)
		p := observed(t, rng, dim, 8+rng.IntN(30), Priors{})
		h := Hyperparameters{Scale: 0.2 + rng.Float64()*3, Noise: 1e-3 + rng.Float64()*0.2}
		for range dim {
			h.Lengths = append(h.Lengths, 0.1+rng.Float64()*2)
		}
		if err := p.SetHyperparameters(h); err != nil {
			t.Fatal(err)
		}
		c := sklearnCase{X: p.x, Y: p.y, Lengths: h.Lengths, Scale: h.Scale, Noise: h.Noise}
		for range 10 {
			c.Query = append(c.Query, point(rng, dim))
		}
		cases, processes = append(cases, c), append(processes, p)
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	// The matrices are too small to gain from threads.
	cmd := exec.Command(interpreter, filepath.Join("testdata", "process.py"))
	var problems bytes.Buffer
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	var answers []struct {
		Mean, SD           []float64
		Likelihood, Fitted float64
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	for i, p := range processes {
		a := answers[i]
		value, _, err := p.Objective()
		if err != nil {
			t.Fatal(err)
		}
		close(t, "likelihood", -value, a.Likelihood, 1e-8)
		for k, x := range cases[i].Query {
			mean, sd := p.Predict(x)
			close(t, "mean", mean, a.Mean[k], 1e-7)
			close(t, "sd", sd*sd, a.SD[k]*a.SD[k], 1e-6)
		}
		if err := p.Fit(); err != nil {
			t.Fatal(err)
		}
		if value, _, _ = p.Objective(); -value < a.Fitted-1e-3 {
			t.Errorf("case %d: fitted to %v, scikit-learn to %v", i, -value, a.Fitted)
		}
	}
}

// close compares with a tolerance relative to 1 and the value wanted.
func close(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
