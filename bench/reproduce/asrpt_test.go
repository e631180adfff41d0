package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// asrptRun is a hand-made run of all policies at two bandwidths: of the k-th
// policy, the total JCT is (k+1)·1000 h and the ratio k+1, the total completion
// time 10,000 h more and the ratio k+2, and its two jobs, of 1 and 3
// GPUs and 10 iterations of at best a second, train for 10 s and 10·(k+1) s.
func asrptRun() *record.Run {
	run := &record.Run{}
	for _, inter := range []string{"1Gbps", "50Gbps"} {
		for k, m := range asrptMethods() {
			id := fmt.Sprint(inter, k)
			for o, objective := range []string{"total-jct", "total-completion"} {
				run.Ratios = append(run.Ratios, record.Ratio{CellID: id, Instance: "pai/00", Objective: objective, Method: m.method, Params: map[string]string{"cluster.inter": inter},
					Family: "pai", OfferedLoad: record.Some(0.9), UnseenShare: record.Some(0.4), PredictionError: record.Some(0.5),
					Cost: record.Some(3.6e6 * float64(k+1+10*o)), RatioToLowerBound: record.Some(float64(k + 1 + o))})
			}
			for j, train := range []float64{10, 10 * float64(k+1)} {
				run.Jobs = append(run.Jobs, record.Job{CellID: id, Job: j, GPUs: record.Some(1 + 2*j), Train: record.Some(train), Iters: record.Some(int64(10)), IterationBest: record.Some(1.0)})
			}
		}
	}
	return run
}

// TestASRPTSweep: ratios, reductions and the growth of work stand in the row of
// their policy and the column of their value.
func TestASRPTSweep(t *testing.T) {
	item, err := Find("asrpt-fig8")
	if err != nil {
		t.Fatal(err)
	}
	out, err := item.Make(context.Background(), Input{Runs: []*record.Run{asrptRun()}, Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		table, row int
		text       string
	}{
		{0, 3, "SPWF|≤ 4.000|≤ 4.000"},                           // the fourth policy
		{1, 2, "A-SRPT, tau 1, than WCS-Duration|80.0 %|80.0 %"}, // A-SRPT is the first, WCS-Duration the fifth
		{1, 7, "A-SRPT-Perfect, tau 1, than WCS-Duration|60.0 %|60.0 %"},
		{2, 0, "offered load|0.90|0.90"},
		{2, 1, "unseen|40.0 %|40.0 %"},
		{2, 2, "error|50.0 %|50.0 %"},
		{3, 3, "SPWF|3.25|3.25"},       // (10 + 3·40)/(10 + 3·10)
		{4, 3, "SPWF|≤ 5.000|≤ 5.000"}, // total completion time
	} {
		if got := strings.Join(out.Tables[want.table].Rows[want.row], "|"); got != want.text {
			t.Errorf("table %d: %s, want %s", want.table, got, want.text)
		}
	}
	if got := strings.Join(out.Tables[3].Columns, "|"); got != "method|1Gbps|50Gbps" {
		t.Error(got)
	}
	if got := strings.Join(out.Notes, "\n"); !strings.Contains(got, "Ours, pai, total-jct less than the five baselines: A-SRPT, tau 1 between 66.7 % and 85.7 %") {
		t.Error(got)
	}
	for _, want := range []Number{{"pai: A-SRPT, tau 1, below WCS-Duration at 50 Gbps, %", "12", 100 * (1 - 1.0/5)}, {"pai: A-SRPT, tau 1, most below a baseline at 1 Gbps, %", "92", 600.0 / 7}} {
		if !slices.ContainsFunc(out.Numbers, func(n Number) bool {
			return n.Statement == want.Statement && n.Theirs == want.Theirs && math.Abs(n.Ours-want.Ours) < 1e-9
		}) {
			t.Errorf("%+v lacks %+v", out.Numbers, want)
		}
	}
	want := Ordering{"pai, cluster.inter 1Gbps: A-SRPT, tau 1, below the best baseline", 3.6e6, 3 * 3.6e6}
	if !slices.Contains(out.Orderings, want) {
		t.Errorf("%+v lacks %+v", out.Orderings, want)
	}
}

// TestASRPTKey: of a method's parameters those stay that tables tell apart.
func TestASRPTKey(t *testing.T) {
	for method, want := range map[string]string{
		"a-srpt": "a-srpt", "spjf(layout=heavy-edge)": "spjf", "a-srpt(tau=100)": "a-srpt tau=100", "a-srpt(tau=0)": "a-srpt",
		"a-srpt(retrain-every=24h0m0s,tau=100)": "a-srpt daily tau=100", "a-srpt(by=overall,predictor=mean)": "a-srpt by=overall predictor=mean", "a-srpt(predictor=mean)": "a-srpt predictor=mean",
	} {
		if got := asrptKey(method); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{-0.0001: "0.0 %", 0.0006: "0.1 %", -0.5: "-50.0 %", math.Inf(1): "–"} {
		if got := percent(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
