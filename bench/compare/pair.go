package compare

import (
	"fmt"
	"math/big"
	"strings"

	"yardstick/bench/record"
)

// Key names what two results have in common.
type Key struct {
	Family    string `json:"family"`
	Params    string `json:"params,omitempty"` // swept parameters, "name=value; ..."
	Instance  string `json:"instance"`
	Objective string `json:"objective"`
	Method    string `json:"method"`
}

// String prints the key as people read it.
func (k Key) String() string {
	text := fmt.Sprintf("%s on %s, %s", k.Method, k.Instance, k.Objective)
	if k.Params != "" {
		text += " (" + k.Params + ")"
	}
	return text
}

// Mark says how a pair's second row stands to its first, in the manner of asv.
type Mark string

// The marks.
const (
	Same         Mark = " "
	Better       Mark = "-" // the cost is lower, or higher where more is better
	Worse        Mark = "+"
	Failed       Mark = "!" // no schedule any more
	Mended       Mark = "^" // a schedule where there was none
	Added        Mark = "*" // in the second result alone
	Vanished     Mark = "o" // in the first result alone
	Incomparable Mark = "x" // the instances differ in content
)

// Legend explains the marks.
const Legend = "+ worse, - better, ! fails now, ^ failed before, * new, o gone, x another instance of the same name; ~ no significant difference in time"

// Pair is a row of each result; one of them may be missing.
type Pair struct {
	Key
	Mark Mark `json:"mark"`
	A    *Row `json:"a,omitempty"`
	B    *Row `json:"b,omitempty"`
	// Ratio is the cost of B over that of A, or A over B where more is better:
	// above 1 is worse. Nil unless both have a cost and that of the divisor is
	// not 0.
	Ratio *big.Rat `json:"-"`
	// Changes names what else differs: the optimum, the bound, the theorem.
	Changes []string `json:"changes,omitempty"`
}

// Row is what is compared of a row of ratios.arrow.
type Row struct {
	Cell        string   `json:"cell_id"`
	SHA256      string   `json:"-"`
	Termination string   `json:"termination"`
	Maximised   bool     `json:"-"`
	Class       string   `json:"class,omitempty"`
	Cost        *big.Rat `json:"cost,omitempty"`
	Bound       *big.Rat `json:"bound,omitempty"` // lower, or upper where more is better
	Optimum     *big.Rat `json:"optimum,omitempty"`
	Best        *big.Rat `json:"best_known,omitempty"` // cost of the best schedule known, the other side of the bracket
	Theorem     string   `json:"theorem,omitempty"`    // holds, does not hold, or ""
	WallLimited bool     `json:"wall_limited,omitempty"`
	Message     string   `json:"message,omitempty"`
}

// newRow reads a record's exact values.
func newRow(r *record.Ratio) (*Row, error) {
	row := &Row{Cell: r.CellID, SHA256: r.InstanceSHA256, Termination: r.Termination, Maximised: r.Sense == record.Max, Class: r.Class,
		WallLimited: r.WallLimited, Message: string(r.Message)}
	var err error
	read := func(name string, exact record.Text, nearest record.Opt[float64]) *big.Rat {
		switch {
		case exact != "":
			v, ok := new(big.Rat).SetString(string(exact))
			if !ok {
				err = fmt.Errorf("compare: %s on %s: %s is %q, which is no fraction", r.Method, r.Instance, name, exact)
			}
			return v
		case nearest.Valid: // written before there were exact columns
			return new(big.Rat).SetFloat64(nearest.V)
		}
		return nil
	}
	row.Cost = read("cost_exact", r.CostExact, r.Cost)
	bound := r.LowerBound
	if row.Maximised {
		bound = r.UpperBound
	}
	row.Bound = read("lower_bound_exact", r.LowerBoundExact, bound)
	row.Best = read("best_known", "", r.BestKnown)
	if r.OptimumStatus == record.Proven || r.OptimumStatus == record.Certified {
		row.Optimum = read("optimum_exact", r.OptimumExact, r.Optimum)
	}
	if r.TheoremHolds.Valid {
		row.Theorem = "does not hold"
		if r.TheoremHolds.V {
			row.Theorem = "holds"
		}
	}
	return row, err
}

// paramText prints the swept parameters in the manifest's order.
func paramText(r *record.Ratio, params []record.Param) string {
	var parts []string
	for _, p := range params {
		if v, ok := r.Params[p.Name]; ok {
			parts = append(parts, p.Name+"="+v)
		}
	}
	return strings.Join(parts, "; ")
}

// table is the rows of a result by their keys, in their order.
type table struct {
	rows map[Key]*Row
	keys []Key
}

func newTable(run *record.Run) (*table, error) {
	t := &table{rows: map[Key]*Row{}}
	for i := range run.Ratios {
		r := &run.Ratios[i]
		k := Key{r.Family, paramText(r, run.Manifest.Params), r.Instance, r.Objective, r.Method}
		row, err := newRow(r)
		if err != nil {
			return nil, err
		}
		if t.rows[k] != nil {
			return nil, fmt.Errorf("compare: %s: two rows for %s: it cannot be paired", run.Dir, k)
		}
		t.rows[k] = row
		t.keys = append(t.keys, k)
	}
	return t, nil
}

// pairs joins two tables: what is in both or in the first in its order, then
// what is new.
func pairs(a, b *table) []Pair {
	var list []Pair
	for _, k := range a.keys {
		list = append(list, newPair(k, a.rows[k], b.rows[k]))
	}
	for _, k := range b.keys {
		if a.rows[k] == nil {
			list = append(list, newPair(k, nil, b.rows[k]))
		}
	}
	return list
}

func newPair(k Key, a, b *Row) Pair {
	p := Pair{Key: k, A: a, B: b, Mark: Same}
	switch {
	case a == nil:
		p.Mark = Added
		return p
	case b == nil:
		p.Mark = Vanished
		return p
	case a.SHA256 != b.SHA256:
		p.Mark = Incomparable
		return p
	case a.Cost != nil && b.Cost == nil:
		p.Mark = Failed
	case a.Cost == nil && b.Cost != nil:
		p.Mark = Mended
	case a.Cost != nil:
		order := b.Cost.Cmp(a.Cost)
		if b.Maximised {
			order = -order
		}
		switch {
		case order > 0:
			p.Mark = Worse
		case order < 0:
			p.Mark = Better
		}
		p.Ratio = quotient(b.Cost, a.Cost)
		if b.Maximised {
			p.Ratio = quotient(a.Cost, b.Cost)
		}
	}
	p.Changes = changes(a, b)
	return p
}

// quotient is x/y; 1 if both are 0, nil if y alone is.
func quotient(x, y *big.Rat) *big.Rat {
	switch {
	case y.Sign() != 0:
		return new(big.Rat).Quo(x, y)
	case x.Sign() == 0:
		return big.NewRat(1, 1)
	}
	return nil
}

// changes names what differs beside the cost.
func changes(a, b *Row) []string {
	var list []string
	switch {
	case a.Optimum == nil && b.Optimum != nil:
		list = append(list, "optimum proven now")
	case a.Optimum != nil && b.Optimum == nil:
		list = append(list, "optimum no longer proven")
	case a.Optimum != nil && a.Optimum.Cmp(b.Optimum) != 0 && a.Class == b.Class:
		list = append(list, fmt.Sprintf("optimum %s, was %s: one of the two is wrong", b.Optimum.RatString(), a.Optimum.RatString()))
	}
	if word := boundChange(a, b); word != "" {
		list = append(list, "bound "+word)
	}
	if word := bestChange(a, b); word != "" {
		list = append(list, "best schedule known "+word)
	}
	if a.Theorem != b.Theorem {
		list = append(list, fmt.Sprintf("theorem %s, was %s", orNone(b.Theorem), orNone(a.Theorem)))
	}
	return list
}

func orNone(s string) string {
	if s == "" {
		return "not checked"
	}
	return s
}

// bestChange is how the best schedule known of B stands to that of A, as boundChange is
// of bounds: better or worse, or "" also where one of them has none.
func bestChange(a, b *Row) string {
	if a.Class != b.Class || a.Best == nil || b.Best == nil {
		return ""
	}
	switch order := b.Best.Cmp(a.Best); {
	case order == 0:
		return ""
	case order < 0 == !b.Maximised:
		return "better"
	}
	return "worse"
}

// boundChange is how B's bound stands to A's: tighter, weaker, lost, new, or
// "". Rows of different execution classes have bounds of different problems.
func boundChange(a, b *Row) string {
	switch {
	case a.Class != b.Class:
		return ""
	case a.Bound == nil && b.Bound == nil:
		return ""
	case a.Bound == nil:
		return "new"
	case b.Bound == nil:
		return "lost"
	}
	order := b.Bound.Cmp(a.Bound)
	if b.Maximised {
		order = -order
	}
	switch {
	case order > 0:
		return "tighter"
	case order < 0:
		return "weaker"
	}
	return ""
}
