package throughput

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/datasets/tracetest"
)

var update = flag.Bool("update", false, "write fits.csv")

// refit fits every application anew.
func refit(t *testing.T) []Application {
	t.Helper()
	var list []Application
	for _, name := range []string{"cifar10", "ncf", "deepspeech2", "bert", "yolov3", "imagenet"} {
		for _, set := range []struct{ gpu, pattern string }{
			{"t4", "raw/pollux/simulator/traces/%s/%s.csv.gz"},
			{"dgx", "raw/sia/sia-simulator/traces/%s/%s-dgx.csv.gz"},
			{"rtx", "raw/sia/sia-simulator/traces/%s/%s-rtx.csv.gz"},
		} {
			var all []Measurement
			for _, what := range []string{"placements", "scalability"} {
				file := fmt.Sprintf(set.pattern, name, what)
				rows, err := ReadFile(tracetest.Public(t, file))
				if err != nil {
					t.Fatal(err)
				}
				if want := tracetest.ManifestRows(t, file); len(rows) != want {
					t.Errorf("%s: %d rows; the manifest says %d", file, len(rows), want)
				}
				all = append(all, rows...)
			}
			p, q, err := Fit(all)
			if err != nil {
				t.Fatalf("%s on %s: %v", name, set.gpu, err)
			}
			t.Logf("%s on %s: %v", name, set.gpu, q)
			list = append(list, Application{name, set.gpu, *p, q})
		}
	}
	return list
}

// The committed parameters are those of a fit to the published measurements.
func TestBuiltinAgainstMeasurements(t *testing.T) {
	tracetest.Public(t, "raw/pollux")
	list := refit(t)
	if *update {
		if err := os.WriteFile("fits.csv", []byte(formatFits(list)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	builtin := Builtin()
	if len(builtin) != len(list) {
		t.Fatalf("%d fits, %d are built in", len(list), len(builtin))
	}
	for i, want := range builtin {
		got := list[i]
		// Along flat directions the parameters differ between machines; how
		// well they fit does not.
		if got.Name != want.Name || got.GPU != want.GPU || got.Rows != want.Rows || math.Abs(got.LogRMSE-want.LogRMSE) > 1e-4 {
			t.Errorf("%s on %s: %v, built in %v", got.Name, got.GPU, got.Quality, want.Quality)
		}
		for _, at := range []Point{{1, 1, 16}, {1, 4, 16}, {2, 4, 16}, {4, 16, 16}, {16, 64, 16}} {
			a, errA := got.IterTime(at)
			b, errB := want.IterTime(at)
			if errA != nil || errB != nil || math.Abs(a/b-1) > 0.01 {
				t.Errorf("%s on %s, %+v: %v s, built in %v s", got.Name, got.GPU, at, a, b)
			}
		}
		// Loose: the error is typically below 15 %, except for yolov3 on dgx,
		// where batches of 6 were measured to take 1.6 times as long as those of
		// 4 and of 8, which no model of this form can say.
		if got.LogRMSE > 0.15 && !(got.Name == "yolov3" && got.GPU == "dgx") {
			t.Errorf("%s on %s: %v", got.Name, got.GPU, got.Quality)
		}
	}
}

func TestBuiltin(t *testing.T) {
	list := Builtin()
	if len(list) != 18 {
		t.Fatalf("%d applications", len(list))
	}
	for _, a := range list {
		if a.Gamma < minGamma || a.Gamma > maxGamma || !(a.AlphaGrad+a.BetaGrad > 0) || a.Rows < 100 {
			t.Errorf("%+v", a)
		}
		one, err := a.IterTime(Point{1, 1, 32})
		if err != nil || !(one > 0) {
			t.Errorf("%+v: %v, %v", a, one, err)
		}
		// Replicas add time, and so do servers and samples.
		for _, p := range [][2]Point{{{1, 1, 32}, {1, 2, 32}}, {{2, 4, 32}, {2, 8, 32}}, {{2, 4, 32}, {2, 4, 64}}} {
			less, _ := a.IterTime(p[0])
			more, _ := a.IterTime(p[1])
			if more < less {
				t.Errorf("%s on %s: %v s at %+v, %v s at %+v", a.Name, a.GPU, less, p[0], more, p[1])
			}
		}
		if got, err := FindBuiltin(a.Name, a.GPU); err != nil || got != a {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if formatFits(list) != fits {
		t.Error("fits.csv does not survive being read and written")
	}
	if _, err := FindBuiltin("bert", "t5"); err == nil || !strings.Contains(err.Error(), "the nearest is bert on t4") {
		t.Error(err)
	}
	for name, text := range map[string]string{"header": "a,b\n", "fields": header + "\nbert,t4,1\n", "number": header + "\nbert,t4" + strings.Repeat(",x", 12) + "\n"} {
		if _, err := parseFits(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// formatFits writes parameters with six digits and qualities with four
// decimals.
func formatFits(list []Application) string {
	lines := []string{header}
	for _, a := range list {
		fields := []string{a.Name, a.GPU}
		for _, v := range []float64{a.AlphaGrad, a.BetaGrad, a.Local.Alpha, a.Local.Beta, a.Node.Alpha, a.Node.Beta, a.Gamma} {
			fields = append(fields, strconv.FormatFloat(v, 'g', 6, 64))
		}
		fields = append(fields, strconv.Itoa(a.Rows))
		for _, v := range []float64{a.R2, a.LogR2, a.LogRMSE, a.Worst} {
			fields = append(fields, strconv.FormatFloat(v, 'f', 4, 64))
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	return strings.Join(slices.Clip(lines), "\n") + "\n"
}
