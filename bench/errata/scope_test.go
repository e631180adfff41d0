package errata

import (
	"math/big"
	"strings"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// TestOutside: counterexamples that lie outside the scope of what they are said to
// refute are refused, for the clause that they miss. Each was, or might have been, taken
// for one.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		name   string
		clause string
		e      Erratum
		run    func() (*Evidence, error)
	}{
		{"the inserted job is done first", "Case 2", slowedAlone(), func() (*Evidence, error) {
			return insertedInto(10*sched.Second, 5*sched.Second, 2, 2, map[sched.Time]sched.Time{5: 15, 10: 10})
		}},
		{"both are done at once", "Case 2", slowedAlone(), func() (*Evidence, error) {
			return insertedInto(10*sched.Second, 10*sched.Second, 2, 2, map[sched.Time]sched.Time{5: 15, 10: 10})
		}},
		{"the approximation is not one", "within γ", offByOne(), func() (*Evidence, error) {
			return runOffByOne([]demand{{a: 2, b: 4, weight: 5}, {a: 2, b: 4, weight: 4}}, []sched.JobID{1, 0}, big.NewRat(6, 5), 4, 5)
		}},
		{"fewer jobs than possible", "as many jobs as possible", offByOne(), func() (*Evidence, error) {
			return runOffByOne([]demand{{a: 2, b: 4, weight: 4}, {a: 1, b: 2, weight: 3}, {a: 1, b: 2, weight: 2}}, []sched.JobID{0, 1, 2}, big.NewRat(5, 4), 4, 5)
		}},
		{"demands of a third where λ = 9", "f/C", baits(), func() (*Evidence, error) {
			in := market("baits-first", 3, 717, []demand{{a: 1, b: 4, weight: 5}, {a: 1, b: 100, weight: 101}}, 3, 3)
			e, _, err := batch(in, inSlots(in, []int64{-1, -1, -1, 0, 0, 0}))
			return e, err
		}},
		{"weights that are not worth the resources", "w/Σf", baits(), func() (*Evidence, error) {
			in := market("baits-first", 4, 717, []demand{{a: 1, b: 4, weight: 4.5}, {a: 1, b: 100, weight: 101}}, 4, 4)
			e, _, err := batch(in, inSlots(in, []int64{-1, -1, -1, -1, 0, 0, 0, 0}))
			return e, err
		}},
		{"not done by T", "all is done by T", starved(), func() (*Evidence, error) {
			s, err := NewStarved(300, 1_000_000)
			if err != nil {
				return nil, err
			}
			return s.evidence()
		}},
		{"submitted in slot 0", "slots 1, 2, …", slottedTheorem1(), func() (*Evidence, error) {
			tenth := sched.Second / 10
			in := oneServer("slotted", 4, flat(0, 1, tenth), flat(0, 1, tenth))
			in.Slot = sched.Second
			best, err := startAt(in, 0, 0)
			if err != nil {
				return nil, err
			}
			e, err := measure(t.Context(), in, exactly(), nil, best)
			if err == nil {
				e.Scope = slottedClauses(e)
			}
			return e, err
		}},
		{"a job of all GPUs", "g_max < G", slottedTheorem1(), func() (*Evidence, error) {
			in := oneServer("slotted", 4, flat(sched.Second, 4, sched.Second))
			in.Slot = sched.Second
			best, err := startAt(in, sched.Second)
			if err != nil {
				return nil, err
			}
			e, err := measure(t.Context(), in, exactly(), nil, best)
			if err == nil {
				e.Scope = slottedClauses(e)
			}
			return e, err
		}},
		{"all containers on one server", "q_j = 0", cheapestFirst(), placed13(3, []int{0, 3}, 1)},
		{"a worker too few", "as many workers", cheapestFirst(), placed13(3, []int{1, 1}, 1)},
		{"parameter servers that receive too little", "receive", cheapestFirst(), placed13(3, []int{2, 1}, 1)},
		{"more than there is", "overdrawn", cheapestFirst(), placed13(3, []int{1, 2}, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := c.run()
			if err != nil {
				t.Fatal(err)
			}
			missed := ""
			for _, clause := range found.Scope {
				if strings.Contains(clause.Text, c.clause) && !clause.Met {
					missed = clause.Text
				}
			}
			if err := c.e.Check(found); missed == "" || err == nil || !strings.Contains(err.Error(), "outside the scope: "+missed) {
				t.Errorf("missed %q, %v; scope %+v", missed, err, found.Scope)
			}
		})
	}
}

// placed13 checks a placement with so many parameter servers on the second server
// against problem (13).
func placed13(needed int, workers []int, servers int) func() (*Evidence, error) {
	return func() (*Evidence, error) {
		in := containers(needed, 1)
		c := &pricing.Choice{ElasticConfig: sched.ElasticConfig{Workers: needed, Slots: 1}, Workers: workers, Host: 1, Servers: servers}
		clauses, err := pricingClauses(in, c)
		return &Evidence{Instance: in, Scope: clauses}, err
	}
}
