package compare

import (
	"math/big"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// freshResult has three rows of each method, of this cost over a bound of 10.
func freshResult(costs map[string]string) *record.Run {
	run := &record.Run{}
	for method, cost := range costs {
		for _, instance := range []string{"a", "b", "c"} {
			r := record.Ratio{Instance: instance, Family: "f", Objective: "makespan", Method: method, Kind: "online", Sense: record.Min, Class: "N", Termination: "COMPLETED",
				CostExact: record.Text(cost), LowerBoundExact: "10"}
			if cost != "" {
				r.Cost, r.LowerBound = record.Some(1.0), record.Some(10.0)
			}
			run.Ratios = append(run.Ratios, r)
		}
	}
	return run
}

func TestFresh(t *testing.T) {
	before := freshResult(map[string]string{"fifo": "20", "mine": "15"})
	for name, c := range map[string]struct {
		fresh map[string]string
		rule  string
	}{
		"as before":              {map[string]string{"fifo": "20", "mine": "15"}, ""},
		"harder for everybody":   {map[string]string{"fifo": "40", "mine": "30"}, ""},
		"a little harder for it": {map[string]string{"fifo": "40", "mine": "32"}, ""},
		"easier, but not for it": {map[string]string{"fifo": "15", "mine": "15"}, "fresh"},
		"knew them by heart":     {map[string]string{"fifo": "20", "mine": "20"}, "fresh"},
		"has no schedule":        {map[string]string{"fifo": "20", "mine": ""}, "failure"},
		"beats the bound":        {map[string]string{"fifo": "20", "mine": "9"}, "bound"},
	} {
		v, growths, err := Fresh(before, freshResult(c.fresh), []string{"mine"}, big.NewRat(1, 10))
		if err != nil {
			t.Fatal(name, err)
		}
		if (len(v.Reasons) > 0) != (c.rule != "") || c.rule != "" && v.Reasons[0].Rule != c.rule {
			t.Errorf("%s: %+v, %+v", name, v.Reasons, growths)
		}
	}
	if _, _, err := Fresh(freshResult(map[string]string{"mine": "15"}), freshResult(map[string]string{"mine": "15"}), []string{"mine"}, new(big.Rat)); err == nil || !strings.Contains(err.Error(), "add fifo") {
		t.Errorf("without a policy of ours: %v", err)
	}
}
