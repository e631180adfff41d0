package compare

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"yardstick/bench/record"
)

// Rules say what a gate lets pass. The zero value lets everything pass.
type Rules struct {
	// MaxRatio is by how much the geometric mean of a method's ratios over a
	// family may grow, as a share: 1/200 is 0.5 %. Nil does not look.
	MaxRatio *big.Rat
	// NoNewFailures stops where a method has no schedule any more.
	NoNewFailures bool
	// NoWeakerBounds stops where a bound or a proof of optimality was lost.
	NoWeakerBounds bool
	// MaxGap is how far the best schedule known may be from the proven bound, as a share
	// of the bound: 1/50 is 2 %. Nil does not look. It needs no baseline.
	MaxGap *big.Rat
	// NoViolations stops where a schedule beats a proven bound or optimum, or a
	// theorem is violated although its assumptions are met. It needs no
	// baseline.
	NoViolations bool
}

// Reason is why a gate fails, in one line.
type Reason struct {
	Rule string `json:"rule"` // bound, theorem, failure, ratio or gap
	Text string `json:"text"`
}

// Verdict is what a gate found.
type Verdict struct {
	Reasons  []Reason `json:"reasons"`
	Rows     int      `json:"rows"`     // looked at
	Skipped  int      `json:"skipped"`  // rows that a limit in time or memory shaped: not compared
	Baseline bool     `json:"baseline"` // whether there was a baseline
}

// Gate holds a result to the rules. baseline may be nil; then only the rules
// that need none apply. Rows that a limit in wall-clock time or memory shaped
// on either side are held to the rules on violations and failures alone: their
// values differ from run to run.
func Gate(run, baseline *record.Run, rules Rules) (*Verdict, error) {
	v := &Verdict{Rows: len(run.Ratios), Baseline: baseline != nil}
	now, err := newTable(run)
	if err != nil {
		return nil, err
	}
	if rules.NoViolations {
		v.violations(run, now)
	}
	if rules.MaxGap != nil {
		v.gaps(now, rules.MaxGap)
	}
	if baseline == nil {
		return v, nil
	}
	before, err := newTable(baseline)
	if err != nil {
		return nil, err
	}
	all := pairs(before, now)
	for i := range all {
		p := &all[i]
		if rules.NoNewFailures {
			v.failure(p)
		}
		if rules.NoWeakerBounds && p.compared() {
			v.proof(p)
		}
		if p.A != nil && p.B != nil && (p.A.WallLimited || p.B.WallLimited) {
			v.Skipped++
		}
	}
	if rules.MaxRatio != nil {
		v.ratios(all, rules.MaxRatio)
	}
	return v, nil
}

func (v *Verdict) add(rule, format string, args ...any) {
	v.Reasons = append(v.Reasons, Reason{rule, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")})
}

// compared reports whether the values of both sides mean the same.
func (p *Pair) compared() bool {
	return p.A != nil && p.B != nil && p.Mark != Incomparable && !p.A.WallLimited && !p.B.WallLimited
}

// violations looks for what contradicts itself, within one result.
func (v *Verdict) violations(run *record.Run, t *table) {
	for _, k := range t.keys {
		r := t.rows[k]
		if r.Cost == nil {
			continue
		}
		beats := func(bound *big.Rat) bool {
			if bound == nil {
				return false
			}
			if r.Maximised {
				return r.Cost.Cmp(bound) > 0
			}
			return r.Cost.Cmp(bound) < 0
		}
		switch {
		case beats(r.Bound):
			v.add("bound", "%s costs %s, beyond the proven bound %s", k, decimal(r.Cost), decimal(r.Bound))
		case beats(r.Optimum):
			v.add("bound", "%s costs %s, beyond the proven optimum %s", k, decimal(r.Cost), decimal(r.Optimum))
		}
	}
	for i := range run.Theorems {
		if t := &run.Theorems[i]; t.Met && t.Verdict == "violated" {
			v.add("theorem", "%s (%s) is violated by %s on %s although its assumptions are met", t.Theorem, t.Form, t.Method, t.Instance)
		}
	}
}

// gaps looks for brackets that are wider than they may be, each once, exactly but for the
// best cost, which is recorded as the nearest float64. Where nothing is proven, or there
// is no schedule, no width is small enough.
func (v *Verdict) gaps(t *table, share *big.Rat) {
	type bracket struct{ instance, params, objective, class string }
	seen := map[bracket]bool{}
	allowed := new(big.Rat).Add(big.NewRat(1, 1), share)
	for _, k := range t.keys {
		r := t.rows[k]
		b := bracket{k.Instance, k.Params, k.Objective, r.Class}
		if r.Cost == nil || r.WallLimited || seen[b] {
			continue
		}
		seen[b] = true
		if r.Optimum != nil {
			continue
		}
		if r.Bound == nil || r.Best == nil {
			v.add("gap", "%s, %s, class %s: it has no bracket", k.Instance, k.Objective, r.Class)
			continue
		}
		width := quotient(r.Best, r.Bound)
		if r.Maximised {
			width = quotient(r.Bound, r.Best)
		}
		if width == nil || width.Cmp(allowed) > 0 {
			v.add("gap", "%s, %s, class %s: the best schedule known, %s, is more than %s from the bound, %s", k.Instance, k.Objective, r.Class,
				decimal(r.Best), percentRat(share), decimal(r.Bound))
		}
	}
}

func (v *Verdict) failure(p *Pair) {
	switch {
	case p.Mark == Vanished && p.A.Cost != nil:
		v.add("failure", "%s is missing; the baseline has a schedule", p.Key)
	case p.Mark == Failed:
		v.add("failure", "%s has no schedule any more: %s %s", p.Key, p.B.Termination, p.B.Message)
	case p.Mark == Added && p.B.Cost == nil:
		v.add("failure", "%s is new and has no schedule: %s %s", p.Key, p.B.Termination, p.B.Message)
	case p.Mark == Incomparable:
		v.add("failure", "%s cannot be compared: the instance differs from the baseline's of the same name", p.Key)
	}
}

// proof looks for bounds, optima and theorems that got worse.
func (v *Verdict) proof(p *Pair) {
	if p.A.Optimum != nil && p.B.Optimum == nil && p.B.Cost != nil {
		v.add("bound", "%s: the optimum %s is no longer proven", p.Key, decimal(p.A.Optimum))
	}
	switch boundChange(p.A, p.B) {
	case "weaker":
		v.add("bound", "%s: the bound is %s, was %s", p.Key, decimal(p.B.Bound), decimal(p.A.Bound))
	case "lost":
		if p.B.Cost != nil { // a row that failed has no bound either
			v.add("bound", "%s: the bound %s is gone", p.Key, decimal(p.A.Bound))
		}
	}
	if p.A.Theorem == "holds" && p.B.Theorem != "holds" && p.B.Cost != nil {
		v.add("theorem", "%s: the theorem held, now it is %s", p.Key, orNone(p.B.Theorem))
	}
}

// ratios compares the geometric means of the ratios to the proven denominators
// per family, setting, objective and method, exactly: the mean of n pairs grew
// by more than share iff the product of their growths exceeds (1+share)^n.
func (v *Verdict) ratios(all []Pair, share *big.Rat) {
	type key struct{ family, params, objective, method string }
	growth := map[key][]*big.Rat{}
	sides := map[key]*[2][]*Row{}
	var order []key
	for i := range all {
		p := &all[i]
		if !p.compared() {
			continue
		}
		a, b := p.A.ratio(), p.B.ratio()
		if a == nil || b == nil || a.Sign() == 0 {
			continue
		}
		k := key{p.Family, p.Params, p.Objective, p.Method}
		if growth[k] == nil {
			order = append(order, k)
			sides[k] = &[2][]*Row{}
		}
		sides[k][0], sides[k][1] = append(sides[k][0], p.A), append(sides[k][1], p.B)
		growth[k] = append(growth[k], new(big.Rat).Quo(b, a))
	}
	allowed := new(big.Rat).Add(big.NewRat(1, 1), share)
	for _, k := range order {
		list := growth[k]
		limits := make([]*big.Rat, len(list))
		for i := range limits {
			limits[i] = allowed
		}
		if product(list).Cmp(product(limits)) <= 0 {
			continue
		}
		setting := k.family
		if k.params != "" {
			setting += " (" + k.params + ")"
		}
		v.add("ratio", "%s on %s, %s: the geometric mean of the ratios grew by %s over %d instances, from %s to %s, allowed is %s", k.method, setting, k.objective,
			percent(geoMean(list)-1), len(list), newSides(sides[k][0]), newSides(sides[k][1]), percentRat(share))
	}
}

// ratio is the cost over the proven denominator, or the denominator over the
// value where more is better; nil without one.
func (r *Row) ratio() *big.Rat {
	denominator := r.Optimum
	if denominator == nil {
		denominator = r.Bound
	}
	switch {
	case r.Cost == nil || denominator == nil:
		return nil
	case r.Maximised:
		return quotient(denominator, r.Cost)
	}
	return quotient(r.Cost, denominator)
}

// ParseShare reads "+0.5%", "0.005" or "0" exactly.
func ParseShare(text string) (*big.Rat, error) {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	r, ok := new(big.Rat).SetString(strings.TrimPrefix(strings.TrimSpace(number), "+"))
	if !ok || r.Sign() < 0 {
		return nil, fmt.Errorf("compare: %q: it must be a share of at least 0, such as +0.5%%", text)
	}
	if isPercent {
		r.Quo(r, big.NewRat(100, 1))
	}
	return r, nil
}

// decimal prints a fraction so that people can read it; long ones are cut.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	text := strings.TrimRight(r.FloatString(6), "0")
	if exact, ok := new(big.Rat).SetString(text); ok && exact.Cmp(r) == 0 {
		return text
	}
	return r.FloatString(6) + "…"
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + " %" }

func percentRat(share *big.Rat) string {
	v, _ := share.Float64()
	return percent(v)
}
