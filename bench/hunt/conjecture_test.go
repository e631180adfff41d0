package hunt

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// conjecture reads a statement about total completion times and resolves its names.
func conjecture(t *testing.T, text string) *Conjecture {
	t.Helper()
	c, err := ParseConjecture(text, sched.TotalCompletion)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range c.Quantities {
		if q.Ref == "" {
			continue
		}
		ref := suite.MethodRef{Name: q.Ref}
		if q.Bound, err = catalogue.Resolve(ref); err != nil {
			t.Fatal(err)
		}
		if q.Kind == kindCost {
			if q.Policy, err = named(ref, q.Objective); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

func TestParseConjecture(t *testing.T) {
	for text, want := range map[string]string{
		"opt<=n":                     "opt(total-completion) <= n",
		"cost( sjf ) >= 2*opt + 1":   "cost(sjf, total-completion) >= 2*opt(total-completion) + 1",
		"cost(sjf, makespan) < G^2":  "cost(sjf, makespan) < G^2",
		"opt(N) = opt(Ns, makespan)": "opt(total-completion, N) = opt(makespan, Ns)",
		"max(bound(srpt), lg(n)) > cost(sjf(blocking=skip))":  "max(bound(srpt, total-completion), lg(n)) > cost(sjf(blocking=skip), total-completion)",
		"cost(a(x=1,y=2), mean-jct) <= (2 - 1/G)*(area - M)":  "cost(a(x=1,y=2), mean-jct) <= (2 - 1/G)*(area - M)",
		"min(cost(fifo), cost(fifo)) <= cost(fifo) + 0*p_sum": "min(cost(fifo, total-completion), cost(fifo, total-completion)) <= cost(fifo, total-completion) + 0*p_sum",
	} {
		c, err := ParseConjecture(text, sched.TotalCompletion)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := ParseConjecture(c.String(), sched.Makespan)
		if err != nil || c.String() != want || again.String() != want {
			t.Errorf("%s is read as %s, and that as %v, %v", text, c, again, err)
		}
		for i := range c.Quantities {
			if c.Quantities[i].Name != again.Quantities[i].Name {
				t.Errorf("%s: quantity %d is %s, and then %s", text, i, c.Quantities[i].Name, again.Quantities[i].Name)
			}
		}
	}
	for text, want := range map[string]string{ // ‸ before what is wrong
		"":                                   "‸",
		"opt":                                "opt‸",
		"opt <= ":                            "opt <= ‸",
		"opt <= +n":                          "opt <= ‸+n",
		"opt <= n n":                         "opt <= n ‸n",
		"opt <= n <= n":                      "opt <= n ‸<= n",
		"opt == n":                           "opt =‸= n",
		"cost(sjf <= n":                      "cost‸(sjf <= n",
		"cost() <= n":                        "‸cost() <= n",
		"cost <= n":                          "‸cost <= n",
		"n <= costs(sjf)":                    "n <= ‸costs(sjf)",
		"n <= N":                             "n <= ‸N",
		"n <= G(1)":                          "n <= ‸G(1)",
		"opt(nothing) <= n":                  "‸opt(nothing) <= n",
		"cost(sjf, N) <= n":                  "‸cost(sjf, N) <= n",
		"opt(scheduled-weight) <= n":         "‸opt(scheduled-weight) <= n",
		"n <= 1.5":                           "n <= 1‸.5",
		"(n <= 1":                            "(n ‸<= 1",
		"n <= 99999999999999999999":          "n <= 99999999999999999999‸",
		"n\x1b[2J <= 1":                      `n‸\x1b[2J <= 1`,
		strings.Repeat("n+", 300) + "n <= 1": "‸n+n",
	} {
		_, err := ParseConjecture(text, sched.TotalCompletion)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), "stands in "+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestExcess: a statement fails on numbers if and only if it is false of them, and by the
// excess that it says.
func TestExcess(t *testing.T) {
	for _, relation := range Relations() {
		for left := int64(-3); left <= 3; left++ {
			for right := int64(-3); right <= 3; right++ {
				c := &Case{Conjecture: &Conjecture{Relation: relation}, Left: big.NewRat(left, 2), Right: big.NewRat(right, 2)}
				holds := map[string]bool{"<=": left <= right, ">=": left >= right, "<": left < right, ">": left > right, "=": left == right}[relation]
				if x := c.Excess(); c.Violated() == holds || new(big.Rat).Abs(x).Cmp(big.NewRat(1, 1)) > 0 || (x.Sign() == 0) != (left == right) {
					t.Errorf("%d/2 %s %d/2: excess %s, violated %v", left, relation, right, x.RatString(), c.Violated())
				}
			}
		}
	}
}

// tiny are all instances of the space of the test below: up to two jobs on two GPUs.
func tiny(s Space) (list []*sched.Instance) {
	b := s.filled().breed()
	all := [][]int64{{}}
	for _, k := range b.job {
		var longer [][]int64
		for _, j := range all {
			for v := k.low; v <= k.high; v++ {
				longer = append(longer, append(slices.Clone(j), v))
			}
		}
		all = longer
	}
	shared := make([]int64, len(b.shared))
	for i := range shared {
		shared[i] = b.shared[i].low
	}
	for _, j := range all {
		list = append(list, b.build(&genes{Shared: shared, Jobs: [][]int64{j}}))
		for _, k := range all {
			list = append(list, b.build(&genes{Shared: shared, Jobs: [][]int64{j, k}}))
		}
	}
	return list
}

// TestConjectures: over all tiny instances, evaluated with another search for optima, hunts
// refute what is false there, by as much as is possible, and nothing that is true.
func TestConjectures(t *testing.T) {
	space := Space{Model: sched.ModelGang, Jobs: 2, GPUs: 2, Longest: 3}
	instances := tiny(space)
	t.Logf("%d instances", len(instances))
	other := func(ctx context.Context, in *sched.Instance, o sched.Objective, class sched.Class) (*optimum, error) {
		r, err := exhaustive.Solve(ctx, in, o, exact.Limits{})
		if err != nil {
			return nil, err
		}
		v, err := verify.Check(in, r.Schedule)
		return &optimum{cost: r.Cost, schedule: v, method: "another", class: class}, err
	}
	refuted := 0
	for _, text := range []string{
		"cost(fifo) <= opt",                             // false
		"cost(sjf) <= opt",                              // true of so few jobs
		"cost(fifo) <= 5/4*opt",                         // false
		"cost(fifo) <= cost(sjf)",                       // false
		"opt < cost(sjf)",                               // they may be equal
		"opt(makespan) >= p_max + r_max",                // false
		"opt = bound(srpt)",                             // false
		"opt(makespan) <= r_max + p_sum",                // true
		"opt <= cost(fifo)",                             // true
		"bound(srpt) <= opt",                            // true
		"bound(area, makespan) <= r_max + area + p_max", // true
		"opt >= n*p_min",                                // true
		"g_max*p_max/G <= area",                         // false: the widest job need not be the longest
		"w_sum = n*w_max",                               // true: weights are 1
	} {
		c := conjecture(t, text)
		var worst *Case
		for _, in := range instances {
			k, err := c.evaluate(t.Context(), in, other, false)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if worst == nil || k.Excess().Cmp(worst.Excess()) > 0 {
				worst = k
			}
		}
		r, err := Run(t.Context(), Options{Conjecture: c, Space: space, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 2000, Workers: 1})
		if err != nil || r.Case == nil {
			t.Fatalf("%s: %v, %v", text, err, r)
		}
		if r.Case.Violated() != worst.Violated() || r.Case.Excess().Cmp(worst.Excess()) != 0 {
			t.Errorf("%s: the hunt finds an excess of %s, and the largest is %s", text, r.Case.Excess().RatString(), worst.Excess().RatString())
		}
		t.Logf("%s: excess %s", text, worst.Excess().RatString())
		if !worst.Violated() {
			continue
		}
		refuted++
		if _, trusted, err := r.Case.Violation().Check(r.Case.Instance); err != nil || len(trusted) > 0 {
			t.Errorf("%s: what is written does not hold: %v, trusted %v", text, err, trusted)
		}
	}
	if refuted != 7 {
		t.Errorf("%d conjectures are false, of 7", refuted)
	}
}

// TestConjecturesOfModels: what is true of any schedule is not refuted in any model.
func TestConjecturesOfModels(t *testing.T) {
	for model, policy := range map[sched.Model]string{sched.ModelPreemptive: "srtf", sched.ModelSharing: "sjf-bsbf"} {
		for text, holds := range map[string]bool{"opt <= cost(" + policy + ")": true, "cost(" + policy + ") <= opt": false} {
			c := conjecture(t, text)
			r, err := Run(t.Context(), Options{Conjecture: c, Space: Space{Model: model, Jobs: 3, GPUs: 2, Longest: 4}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 200, Workers: 1})
			if err != nil || r.Case == nil {
				t.Fatalf("%s: %v, %v", model, err, r)
			}
			if r.Case.Violated() == holds {
				t.Errorf("%s: %s: %s against %s", model, text, r.Case.Left.RatString(), r.Case.Right.RatString())
			}
		}
	}
}

// TestViolationChecked: what is written is read as it was, and refused with anything
// changed.
func TestViolationChecked(t *testing.T) {
	r, err := Run(t.Context(), Options{Conjecture: conjecture(t, "cost(fifo) <= opt + 0*bound(srpt)"), Space: Space{Model: sched.ModelGang, Jobs: 3, GPUs: 2, Longest: 3}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 500, Workers: 1})
	if err != nil || r.Case == nil || !r.Case.Violated() {
		t.Fatal(err, r)
	}
	in := r.Case.Instance
	var b strings.Builder
	if err := r.Case.Violation().Write(&b); err != nil {
		t.Fatal(err)
	}
	read := func() *Violation {
		v, err := ReadViolation([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if _, trusted, err := read().Check(in); err != nil || len(trusted) > 0 {
		t.Fatal(err, trusted)
	}
	for name, change := range map[string]func(*Violation){
		"instance":     func(v *Violation) { v.Instance = strings.Repeat("0", 64) },
		"statement":    func(v *Violation) { v.Statement = strings.Replace(v.Statement, "<=", ">=", 1) },
		"short":        func(v *Violation) { v.Statement = strings.ReplaceAll(v.Statement, ", total-completion", "") },
		"side":         func(v *Violation) { v.Left += "0" },
		"value":        func(v *Violation) { v.Quantities[1].Value = "1" },
		"both":         func(v *Violation) { v.Quantities[1].Value, v.Right = "1", "1" },
		"name":         func(v *Violation) { v.Quantities[0].Name = "cost(sjf, total-completion)" },
		"fewer":        func(v *Violation) { v.Quantities = v.Quantities[:1] },
		"class":        func(v *Violation) { v.Quantities[1].Class = sched.Class{Kind: sched.P} },
		"own class":    func(v *Violation) { v.Quantities[0].Class = sched.Class{Kind: sched.P} },
		"no schedule":  func(v *Violation) { v.Quantities[0].Schedule = nil },
		"schedule":     func(v *Violation) { v.Quantities[0].Schedule = v.Quantities[1].Schedule },
		"broken":       func(v *Violation) { v.Quantities[1].Schedule.Segments[0].End++ },
		"for a bound":  func(v *Violation) { v.Quantities[2].Schedule = v.Quantities[1].Schedule },
		"bound":        func(v *Violation) { v.Quantities[2].Value = "1" },
		"certificates": func(v *Violation) { v.Quantities[1].Certificate = v.Quantities[2].Certificate },
		"certificate":  func(v *Violation) { v.Quantities[1].Certificate = json.RawMessage(`{}`) },
	} {
		v := read()
		change(v)
		if _, _, err := v.Check(in); err == nil {
			t.Errorf("%s: it holds with that changed", name)
		}
	}
	v := read()
	v.Quantities[1].Certificate = nil
	if _, trusted, err := v.Check(in); err != nil || len(trusted) != 1 {
		t.Errorf("without a certificate: %v, trusted %v", err, trusted)
	}
	if _, err := ReadViolation([]byte(`{"statement": "n < 1", "statement": "n < 2"}`)); err == nil {
		t.Error("a key twice is read")
	}
}

// TestConjectureFails: a statement without a value anywhere is said to have none.
func TestConjectureFails(t *testing.T) {
	for text, want := range map[string]string{"n/(G-G) <= 1": "has no value", "opt(P) <= n": "class"} {
		r, err := Run(t.Context(), Options{Conjecture: conjecture(t, text), Space: Space{Model: sched.ModelGang, Jobs: 2, GPUs: 2}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 1000, Workers: 1})
		if err != nil || r.Case != nil || r.Failure == nil || !strings.Contains(r.Failure.Error(), want) || r.Evaluations > 100 {
			t.Errorf("%s: %v, %+v", text, err, r)
		}
	}
	if err := conjecture(t, "g_max <= G").Suits(mustExample(t, sched.ModelElastic)); err == nil {
		t.Error("elastic jobs have gangs")
	}
}

func mustExample(t *testing.T, m sched.Model) *sched.Instance {
	t.Helper()
	in, err := Space{Model: m, Jobs: 2, GPUs: 2}.Example()
	if err != nil {
		t.Fatal(err)
	}
	return in
}
