package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"yardstick/bench/record"
)

// Verdict says which policy did best on a group's instances, by how much, and how sure
// that is. Policies are compared by the geometric means of their costs over the instances
// that all of them solved, whatever their denominators.
type Verdict struct {
	Best      []string `json:"best"`      // policies; several that cost the same in the mean
	Class     string   `json:"class"`     // of the first of them
	Policies  int      `json:"policies"`  // compared: online ones, those that solved the most instances
	LeftOut   int      `json:"left_out"`  // online ones that solved fewer, or nothing
	Instances int      `json:"instances"` // that all of them solved

	// Geometric means over these instances of the least and the most that the best one's
	// ratio can be: equal where every optimum is proven, missing where nothing is proven of some.
	AtLeast record.Opt[float64] `json:"ratio_at_least"`
	AtMost  record.Opt[float64] `json:"ratio"`

	Next    string              `json:"next,omitempty"` // the second best
	Ahead   record.Opt[float64] `json:"ahead"`          // its cost over the best one's, geometric mean
	Cheaper int                 `json:"cheaper"`        // instances on which the best one is better than the second
	Equal   int                 `json:"equal"`          // on which they cost the same

	Optima    int `json:"optima"`    // instances whose optimum is proven, for the best one's class
	Certified int `json:"certified"` // whose optimum or bound is certified
}

// tied is how near to each other geometric means are equal: they are sums of logarithms.
const tied = 1e-12

// contender is a policy with its rows by instance.
type contender struct {
	name string
	rows map[string]*record.Ratio
	mean float64 // geometric, of the costs; its reciprocal where more is better
}

// newVerdict compares the policies of a group. It is nil where there is none, where no
// instance is solved by all that are compared, or where a cost is 0.
func newVerdict(rows []*record.Ratio) *Verdict {
	list, shared, all := contenders(rows)
	if len(list) == 0 || len(shared) == 0 {
		return nil
	}
	for _, c := range list {
		var costs []float64
		for _, instance := range shared {
			row := c.rows[instance]
			if row.Cost.V <= 0 {
				return nil
			}
			cost := row.Cost.V
			if row.Sense == record.Max {
				cost = 1 / cost
			}
			costs = append(costs, cost)
		}
		slices.Sort(costs)
		c.mean = geoMean(costs).V
	}
	slices.SortStableFunc(list, func(a, b *contender) int {
		switch {
		case math.Abs(a.mean/b.mean-1) <= tied:
			return 0
		case a.mean < b.mean:
			return -1
		}
		return 1
	})
	best := list[0]
	v := &Verdict{Policies: len(list), LeftOut: all - len(list), Instances: len(shared), Class: best.rows[shared[0]].Class}
	for _, c := range list {
		if c.mean/best.mean-1 > tied {
			v.Next, v.Ahead = c.name, record.Some(c.mean/best.mean)
			v.count(best, c, shared)
			break
		}
		v.Best = append(v.Best, c.name)
	}
	v.divide(best, shared)
	return v
}

// contenders are the online policies that solved the most instances, and the instances
// that all of them solved, in order; all counts the online policies.
func contenders(rows []*record.Ratio) (list []*contender, shared []string, all int) {
	by := newOrdered[string, contender]()
	for _, row := range rows {
		if row.Kind != "online" {
			continue
		}
		c := by.at(row.Method)
		if c.rows == nil {
			c.name, c.rows = row.Method, map[string]*record.Ratio{}
		}
		if row.Cost.Valid {
			c.rows[row.Instance] = row
		}
	}
	most := 1
	all = len(by.values)
	for _, c := range by.values {
		most = max(most, len(c.rows))
	}
	list = slices.DeleteFunc(by.values, func(c *contender) bool { return len(c.rows) < most })
	if len(list) == 0 {
		return nil, nil, all
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if !seen[row.Instance] && !slices.ContainsFunc(list, func(c *contender) bool { return c.rows[row.Instance] == nil }) {
			shared = append(shared, row.Instance)
		}
		seen[row.Instance] = true
	}
	return list, shared, all
}

// count says on how many instances the best policy is better than the next.
func (v *Verdict) count(best, next *contender, shared []string) {
	for _, instance := range shared {
		a, b := best.rows[instance], next.rows[instance]
		switch {
		case a.Cost.V == b.Cost.V:
			v.Equal++
		case (a.Cost.V < b.Cost.V) == (a.Sense != record.Max):
			v.Cheaper++
		}
	}
}

// divide sums up the best policy's ratios.
func (v *Verdict) divide(best *contender, shared []string) {
	var least, most []float64
	for _, instance := range shared {
		row := best.rows[instance]
		d := detail(row)
		if !d.Ratio.Valid {
			continue
		}
		least, most = append(least, leastRatio(row)), append(most, d.Ratio.V)
		if d.Denominator == Optimum {
			v.Optima++
		}
		if d.Certified {
			v.Certified++
		}
	}
	if len(most) < len(shared) {
		return
	}
	slices.Sort(least)
	slices.Sort(most)
	v.AtLeast, v.AtMost = geoMean(least), geoMean(most)
}

// kind is what the ratio is to: optima alone, or bounds too.
func (v *Verdict) kind() Kind {
	switch {
	case !v.AtMost.Valid:
		return None
	case v.Optima == v.Instances:
		return Optimum
	}
	return Bound
}

// sure says what the ratio rests on, such as "optimum proven on 16/16, certified" or
// "within 1.4 %: a certified bound on 1/1".
func (v *Verdict) sure() string {
	text := v.proven()
	if v.LeftOut > 0 {
		text += "; left out for fewer schedules: " + Range{v.LeftOut, v.LeftOut}.count("method")
	}
	return text
}

// proven is the same without who was left out.
func (v *Verdict) proven() string {
	if !v.AtMost.Valid {
		return "nothing is proven"
	}
	certified := ", not certified"
	switch {
	case v.Certified == v.Instances:
		certified = ", certified"
	case v.Certified > 0:
		certified = fmt.Sprintf(", certified on %d", v.Certified)
	}
	proven := fmt.Sprintf("optimum proven on %d of %d", v.Optima, v.Instances)
	if v.Optima == 0 {
		proven = fmt.Sprintf("bound on %d of %d", v.Instances, v.Instances)
	}
	if v.Optima == v.Instances {
		return proven + certified
	}
	if v.AtLeast.V <= 1 {
		return proven + certified + "; may be optimal"
	}
	return proven + certified + fmt.Sprintf("; known within %s\u00a0%%", directed(100*(v.AtMost.V/v.AtLeast.V-1), 1, +1))
}

// ahead says by how much the next policy is worse, and where.
func (v *Verdict) ahead(maximised bool) string {
	if v.Next == "" {
		if v.Policies == 1 {
			return "the only policy"
		}
		return "all cost the same"
	}
	text := fmt.Sprintf("%s +%s\u00a0%%", spaced(v.Next), directed(100*(v.Ahead.V-1), 1, 0))
	if v.Ahead.V < 1.0005 {
		text = spaced(v.Next) + " less than +0.1\u00a0%"
	}
	if v.Instances == 1 {
		return text
	}
	word := "cheaper"
	if maximised {
		word = "better"
	}
	text += fmt.Sprintf("; %s on %d of %d", word, v.Cheaper, v.Instances)
	if v.Equal > 0 {
		text += fmt.Sprintf(", the same on %d", v.Equal)
	}
	return text
}

// mostVerdicts is how many families the first table has.
const mostVerdicts = 40

// verdictTable is the answer of the page's first screen: who is best in each family, by
// how much, and how sure that is.
func (v *views) verdictTable() *htmlTable {
	t := &htmlTable{Caption: "The best policy of each family", Columns: []heading{{name: "family", left: true}, {name: "best policy", left: true}, {name: "ratio"},
		{name: "next best", left: true}, {name: "how sure", left: true}}, BarAfter: 2}
	var bars []bracket
	rest := 0
	for i := range v.groups {
		g := &v.groups[i]
		b := g.Best
		if b == nil {
			continue
		}
		if len(t.Rows) == mostVerdicts {
			rest++
			continue
		}
		names := slices.Clone(b.Best[:min(len(b.Best), 3)])
		if len(g.Classes) > 1 {
			names[0] += " (class " + b.Class + ")" // whose ratio it is
		}
		name := spaced(strings.Join(names, " = "))
		if n := len(b.Best) - 3; n > 0 {
			name += fmt.Sprintf(" = %d more", n)
		}
		t.Rows = append(t.Rows, plainCells([]string{g.short, name, rangeText(b.AtLeast, b.AtMost, b.kind()), b.ahead(g.Maximised), b.sure()}))
		t.Links = append(t.Links, g.anchor())
		bars = append(bars, newBracket(b.AtLeast, b.AtMost, b.kind()))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	if rest > 0 {
		t.Note = fmt.Sprintf("%d more families are below.", rest)
	}
	t.Bars, t.Scale = drawBrackets(bars)
	return t
}

// anchor is the id of the group's table.
func (g *view) anchor() string { return "group-" + g.slug }
