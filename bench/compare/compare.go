package compare

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/bench/record"
)

// Alpha is the level below which a difference in times is significant.
const Alpha = 0.05

// Comparison is what a comparison found.
type Comparison struct {
	A       Side       `json:"a"`
	B       Side       `json:"b"`
	Groups  []Group    `json:"groups"`
	Changed []Pair     `json:"changed"` // every pair that is not the same, in order
	Times   []TimeRow  `json:"times"`
	Cells   []CellTime `json:"cell_times,omitempty"` // where a side has several runs
	Notes   []string   `json:"notes,omitempty"`
}

// Side is one of the two results: a run, or several of the same suite.
type Side struct {
	Dirs   []string `json:"directories"`
	Digest string   `json:"result_digest"` // of the first
	Rows   int      `json:"rows"`          // of the first
}

// Group counts the pairs of one family, setting, objective and method.
type Group struct {
	Family    string       `json:"family"`
	Params    string       `json:"params,omitempty"`
	Objective string       `json:"objective"`
	Method    string       `json:"method"`
	Counts    map[Mark]int `json:"counts"`
	Pairs     int          `json:"pairs"` // with a cost on both sides and a quotient
	// GeoMean is the geometric mean of their cost ratios, above 1 if B is
	// worse; exactly 1 iff the product of the ratios is. 0 without pairs.
	GeoMean  float64 `json:"cost_ratio_geo_mean,omitempty"`
	Greatest float64 `json:"cost_ratio_greatest,omitempty"`
	Tighter  int     `json:"bounds_tighter,omitempty"`
	Weaker   int     `json:"bounds_weaker,omitempty"` // or lost
	// What is known of the ratios to the best possible costs, over the instances that have one
	// on both sides; nil if none has.
	A *Sides `json:"a_ratio,omitempty"`
	B *Sides `json:"b_ratio,omitempty"`
}

// New compares results. The first run of each side has the values; further
// ones must be of the same suite and add times.
//
// Errors: a side without a run, rows that cannot be paired, or fractions that
// are none.
func New(a, b []*record.Run) (*Comparison, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, fmt.Errorf("compare: each side needs a result")
	}
	tables := make([]*table, 2)
	c := &Comparison{A: newSide(a), B: newSide(b)}
	for i, runs := range [][]*record.Run{a, b} {
		t, err := newTable(runs[0])
		if err != nil {
			return nil, err
		}
		tables[i] = t
		for _, again := range runs[1:] {
			if runs[0].Manifest.ResultDigest != again.Manifest.ResultDigest {
				c.Notes = append(c.Notes, fmt.Sprintf("%s and %s have different result digests: values are those of the first", runs[0].Dir, again.Dir))
			}
		}
	}
	if c.A.Digest == c.B.Digest && c.A.Digest != "" {
		c.Notes = append(c.Notes, "the result digests are equal: no value differs that a limit in time or memory did not shape")
	}
	all := pairs(tables[0], tables[1])
	for i := range all {
		if all[i].Mark != Same || len(all[i].Changes) > 0 {
			c.Changed = append(c.Changed, all[i])
		}
	}
	c.Groups = groups(all)
	c.Times, c.Cells = times(a, b)
	return c, nil
}

func newSide(runs []*record.Run) Side {
	s := Side{Digest: runs[0].Manifest.ResultDigest, Rows: len(runs[0].Ratios)}
	for _, r := range runs {
		s.Dirs = append(s.Dirs, r.Dir)
	}
	return s
}

// groups counts the pairs per family, setting, objective and method.
func groups(all []Pair) []Group {
	type key struct{ family, params, objective, method string }
	index := map[key]int{}
	var list []Group
	var ratios [][]*big.Rat
	var sides [][2][]*Row
	for i := range all {
		p := &all[i]
		k := key{p.Family, p.Params, p.Objective, p.Method}
		at, there := index[k]
		if !there {
			at = len(list)
			index[k] = at
			list = append(list, Group{Family: p.Family, Params: p.Params, Objective: p.Objective, Method: p.Method, Counts: map[Mark]int{}})
			ratios, sides = append(ratios, nil), append(sides, [2][]*Row{})
		}
		g := &list[at]
		g.Counts[p.Mark]++
		if p.Ratio != nil {
			g.Pairs++
			v, _ := p.Ratio.Float64()
			g.Greatest = max(g.Greatest, v)
			ratios[at] = append(ratios[at], p.Ratio)
		}
		if p.A != nil && p.B != nil && p.Mark != Incomparable {
			if p.A.ratio() != nil && p.B.ratio() != nil {
				sides[at][0], sides[at][1] = append(sides[at][0], p.A), append(sides[at][1], p.B)
			}
			switch boundChange(p.A, p.B) {
			case "tighter", "new":
				g.Tighter++
			case "weaker", "lost":
				g.Weaker++
			}
		}
	}
	for i := range list {
		if list[i].Pairs > 0 {
			list[i].GeoMean = geoMean(ratios[i])
		}
		list[i].A, list[i].B = newSides(sides[i][0]), newSides(sides[i][1])
	}
	return list
}

// geoMean is the geometric mean of ratios of at least 0. Where it rounds to 1
// although the product is not 1, it is the next number on the right side.
func geoMean(ratios []*big.Rat) float64 {
	logs := 0.0
	var odd []*big.Rat // the ratios other than 1
	one := big.NewRat(1, 1)
	for _, r := range ratios {
		if r.Cmp(one) == 0 {
			continue
		}
		if r.Sign() == 0 {
			return 0
		}
		v, _ := r.Float64()
		logs += math.Log(v)
		odd = append(odd, r)
	}
	g := math.Exp(logs / float64(len(ratios)))
	if math.Abs(g-1) > 1e-9 {
		return g
	}
	switch product(odd).Cmp(one) {
	case 0:
		return 1
	case 1:
		return max(g, math.Nextafter(1, 2))
	}
	return min(g, math.Nextafter(1, 0))
}

// product multiplies by halves, which keeps the factors of a size.
func product(list []*big.Rat) *big.Rat {
	switch len(list) {
	case 0:
		return big.NewRat(1, 1)
	case 1:
		return list[0]
	}
	return new(big.Rat).Mul(product(list[:len(list)/2]), product(list[len(list)/2:]))
}
