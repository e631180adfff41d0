package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"yardstick/bench"
)

// dump bounds without certificates
func TestDumpQuick(t *testing.T) {
	s, _ := bench.ParseSuite("quick", quickSuite)
	plan, err := bench.NewPlan(s, resolve)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range plan.Cells {
		name := strings.ReplaceAll(c.Instance.Name, "/", "-")
		if strings.HasPrefix(name, "month") {
			continue
		}
		f, _ := os.Create("/tmp/inst/" + name + ".json")
		c.Instance.Write(f)
		f.Close()
		if n := c.Method.Ref().Name; n == "exhaustive" || n == "bout-dp" || n == "sharing-search" {
			r := bench.RunCell(context.Background(), c, plan.Suite.Limits, false)
			b := r.Outcomes[0].Bounds[0]
			os.WriteFile("/tmp/inst/"+name+".opt", []byte(b.Objective.String()+" "+b.Class.String()+" "+b.Value.RatString()), 0o644)
		}
	}
}
