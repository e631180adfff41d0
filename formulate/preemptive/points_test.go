package preemptive

import (
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// TestPoints: bouts that make a schedule are a feasible point of the program,
// and those that break one rule are not.
func TestPoints(t *testing.T) {
	const s = sched.Second
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 2, 4*s), schedtest.Job(s, 3, 2*s))
	in.Model, in.Slot = sched.ModelPreemptive, s
	for i := range in.Jobs {
		in.Jobs[i].Load, in.Jobs[i].Pause = s, 2*s
	}
	p, err := newProblem(in, sched.TotalCompletion, false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.build([]int{30, 30})
	if err != nil {
		t.Fatal(err)
	}
	second := bout{1, 5, 8, true}
	for _, test := range []struct {
		name  string
		legal bool
		bouts []bout
	}{
		{"one bout each", true, []bout{{0, 0, 5, true}, second}},
		{"stopped, and on after a slot", true, []bout{{0, 0, 3, false}, {0, 8, 11, true}, second}},
		{"another in the pause", false, []bout{{0, 0, 3, false}, {0, 8, 11, true}, {1, 4, 7, true}}},
		{"on within the pause", false, []bout{{0, 0, 2, false}, {0, 3, 5, false}, {0, 12, 15, true}, {1, 8, 11, true}}},
		{"on at the end of the pause", false, []bout{{0, 0, 2, false}, {0, 4, 6, false}, {0, 12, 15, true}, {1, 8, 11, true}}},
		{"bouts that overlap", false, []bout{{0, 0, 2, false}, {0, 1, 3, false}, {0, 12, 15, true}, {1, 8, 11, true}}},
		{"a bout after the last", false, []bout{{0, 8, 11, true}, {0, 12, 15, false}, {1, 2, 5, true}}},
		{"too little training", false, []bout{{0, 8, 11, true}, second}},
		{"too much", false, []bout{{0, 0, 4, false}, {0, 10, 13, true}, {1, 6, 9, true}}},
		{"two last bouts", false, []bout{{0, 6, 9, true}, {0, 12, 15, true}, {1, 2, 5, true}}},
		{"none", false, []bout{{0, 0, 3, false}, {0, 8, 11, false}, second}},
		{"too many GPUs", false, []bout{{0, 0, 5, true}, {1, 4, 7, true}}},
	} {
		x := make([]float64, len(m.model.Vars))
		for _, b := range test.bouts {
			c, ok := m.column[b]
			if !ok {
				t.Fatalf("%s: bout %v has no variable", test.name, b)
			}
			x[c] = 1
		}
		if err := milp.Check(m.model, x); (err == nil) != test.legal {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
