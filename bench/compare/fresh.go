package compare

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/bench/record"
)

// Growth is how a policy does on fresh instances, beside how it did before.
type Growth struct {
	Family    string  `json:"family"`
	Objective string  `json:"objective"`
	Method    string  `json:"method"`
	Before    float64 `json:"before"` // geometric mean of its ratios to the proven denominators
	Fresh     float64 `json:"fresh"`  // the same on the fresh instances
	// Ours is by what the means of our own policies grew on the same instances, which
	// are harder or easier for everybody: 1 if they did not.
	Ours float64 `json:"ours"`
}

// Relative is by how much more than ours the policy's mean grew, 0 for as much.
func (g *Growth) Relative() float64 { return g.Fresh/g.Before/g.Ours - 1 }

// Fresh holds policies that are programs, by name, to what they do on fresh instances:
// they have a schedule on every one, nothing contradicts itself there, and no
// geometric mean of ratios over a family grows by more than the share beyond what our own
// online policies' do. One that knows the instances of before by heart cannot keep up.
//
// The means are compared in floating point: instances differ in number, and a share is no
// proof.
//
// Errors: a family has none of our policies to compare with, or neither result has ratios.
func Fresh(before, fresh *record.Run, programs []string, share *big.Rat) (*Verdict, []Growth, error) {
	v := &Verdict{Rows: len(fresh.Ratios)}
	now, err := newTable(fresh)
	if err != nil {
		return nil, nil, err
	}
	then, err := newTable(before)
	if err != nil {
		return nil, nil, err
	}
	v.violations(fresh, now)
	online := map[string]bool{}
	for i := range fresh.Ratios {
		r := &fresh.Ratios[i]
		online[r.Method] = online[r.Method] || r.Kind == "online"
	}
	means, order := now.means()
	earlier, _ := then.means()
	allowed, _ := share.Float64()
	var all []Growth
	for _, k := range now.keys {
		if r := now.rows[k]; slices.Contains(programs, k.Method) && r.Cost == nil {
			v.add("failure", "%s has no schedule: %s %s", k, r.Termination, r.Message)
		}
	}
	for _, k := range order {
		if !slices.Contains(programs, k.method) {
			continue
		}
		var ours []float64
		for _, other := range order {
			if other.family == k.family && other.objective == k.objective && online[other.method] && !slices.Contains(programs, other.method) && len(earlier[other]) > 0 {
				ours = append(ours, geoMean(means[other])/geoMean(earlier[other]))
			}
		}
		if len(ours) == 0 || len(earlier[k]) == 0 {
			return nil, nil, fmt.Errorf("compare: %s, %s: there are no ratios of one of our own policies beside those of %s: add fifo to the methods of the suite and run it again", k.family, k.objective, k.method)
		}
		g := Growth{k.family, k.objective, k.method, geoMean(earlier[k]), geoMean(means[k]), meanOf(ours)}
		all = append(all, g)
		if g.Relative() > allowed {
			v.add("fresh", "%s on %s, %s: the geometric mean of its ratios is %.4f on fresh instances and was %.4f, %s more than our own policies' grew; allowed is %s",
				g.Method, g.Family, g.Objective, g.Fresh, g.Before, percent(g.Relative()), percentRat(share))
		}
	}
	return v, all, nil
}

// group is what a mean is over.
type group struct{ family, objective, method string }

// means lists the ratios of every group, and the groups in order.
func (t *table) means() (ratios map[group][]*big.Rat, order []group) {
	ratios = map[group][]*big.Rat{}
	for _, k := range t.keys {
		r := t.rows[k].ratio()
		if r == nil {
			continue
		}
		g := group{k.Family, k.Objective, k.Method}
		if ratios[g] == nil {
			order = append(order, g)
		}
		ratios[g] = append(ratios[g], r)
	}
	return ratios, order
}

// meanOf is the arithmetic mean.
func meanOf(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
