package report

import (
	"math"
	"slices"

	"yardstick/bench/record"
)

// Aggregate is one method over the instances of a group that have one kind of
// denominator for it. A method whose instances have several kinds has several.
type Aggregate struct {
	Method    string `json:"method"`
	Kind      string `json:"kind"` // online, offline or exact
	Class     string `json:"class,omitempty"`
	Instances int    `json:"instances"`       // of the group
	Known     string `json:"known,omitempty"` // as in Detail
	Solved    int    `json:"solved"`          // by the method: with a verified schedule, whatever the denominator

	Denominator Kind    `json:"denominator"`
	Count       int     `json:"count"`               // instances that the numbers below are over
	ProvenBy    []Count `json:"proven_by,omitempty"` // what proved the denominators, most frequent first
	Certified   int     `json:"certified"`           // denominators certified in exact arithmetic
	Checkable   int     `json:"checkable"`           // optima with a proof that strangers check

	// Of the ratios; missing where Denominator is None.
	GeoMean record.Opt[float64] `json:"geo_mean"`
	Median  record.Opt[float64] `json:"median"` // percentiles are nearest-rank: always a ratio that was measured
	P95     record.Opt[float64] `json:"p95"`
	Worst   record.Opt[float64] `json:"worst"`

	// The same of the least that the ratios can be, by the best schedules known. The
	// true numbers lie between these and those above.
	GeoMeanLeast record.Opt[float64] `json:"geo_mean_at_least"`
	MedianLeast  record.Opt[float64] `json:"median_at_least"`
	P95Least     record.Opt[float64] `json:"p95_at_least"`
	WorstLeast   record.Opt[float64] `json:"worst_at_least"`

	MeanCost record.Opt[float64] `json:"mean_cost"` // arithmetic mean, s or weight

	// Medians over the instances; missing where the policy was told the truth.
	// Promised and Realised are medians of what deferring preemptions was predicted to gain
	// over preempting at once, and of what it gained, in seconds per choice.
	Promised record.Opt[float64] `json:"deferral_gain_predicted_s"`
	Realised record.Opt[float64] `json:"deferral_gain_s"`

	Unseen          record.Opt[float64] `json:"unseen_share"`
	PredictionError record.Opt[float64] `json:"prediction_error"`

	Theorems []Theorem `json:"theorems,omitempty"`
	// DecisionP50 is the median over the instances of the median decision
	// time, in seconds.
	DecisionP50 record.Opt[float64] `json:"decision_p50_s"`
}

// Count is a name and how often it occurs.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Theorem counts the instances on which a theorem was checked.
type Theorem struct {
	Name     string `json:"name"`
	Holds    int    `json:"holds"`
	Violated int    `json:"violated"`
}

// aggregate summarises the rows of one method: one Aggregate per kind of
// denominator that occurs, in the order of the Kind constants. A method that
// solved nothing has one with nothing in it.
func aggregate(rows []*record.Ratio, instances int) []Aggregate {
	byKind := map[Kind][]*record.Ratio{}
	base := Aggregate{Method: rows[0].Method, Kind: rows[0].Kind, Instances: instances, Denominator: None}
	base.Known = detail(rows[0]).Known
	for _, row := range rows {
		if base.Class == "" {
			base.Class = row.Class
		}
		if row.Cost.Valid {
			base.Solved++
			k := detail(row).Denominator
			byKind[k] = append(byKind[k], row)
		}
	}
	var list []Aggregate
	for _, k := range []Kind{Optimum, Bound, None} {
		if len(byKind[k]) > 0 {
			a := base
			a.Denominator = k
			a.summarise(byKind[k])
			list = append(list, a)
		}
	}
	if list == nil {
		list = append(list, base)
	}
	return list
}

// summarise fills in what depends on the rows of one kind of denominator.
func (a *Aggregate) summarise(rows []*record.Ratio) {
	a.Count = len(rows)
	var ratios, least, costs, decisions, unseen, wrong, promised, realised []float64
	theorems := newOrdered[string, Theorem]()
	provers := newOrdered[string, Count]()
	for _, row := range rows {
		d := detail(row)
		costs = append(costs, row.Cost.V)
		if d.Ratio.Valid {
			ratios = append(ratios, d.Ratio.V)
			least = append(least, max(1, d.AtLeast.V))
			p := provers.at(d.ProvenBy)
			p.Name = d.ProvenBy
			p.N++
			if d.Certified {
				a.Certified++
			}
		}
		if row.UnseenShare.Valid {
			unseen = append(unseen, row.UnseenShare.V)
		}
		if row.PredictionError.Valid {
			wrong = append(wrong, row.PredictionError.V)
		}
		if row.DeferralPromised.Valid && row.DeferralRealised.Valid {
			promised, realised = append(promised, row.DeferralPromised.V), append(realised, row.DeferralRealised.V)
		}
		if row.DecisionP50.Valid {
			decisions = append(decisions, row.DecisionP50.V)
		}
		if row.TheoremHolds.Valid {
			t := theorems.at(string(row.Theorem))
			t.Name = string(row.Theorem)
			if row.TheoremHolds.V {
				t.Holds++
			} else {
				t.Violated++
			}
		}
	}
	for _, t := range theorems.values {
		a.Theorems = append(a.Theorems, *t)
	}
	for _, p := range provers.values {
		a.ProvenBy = append(a.ProvenBy, *p)
	}
	slices.SortStableFunc(a.ProvenBy, func(x, y Count) int { return y.N - x.N })
	slices.Sort(ratios)
	slices.Sort(least)
	slices.Sort(costs)
	slices.Sort(decisions)
	slices.Sort(unseen)
	slices.Sort(wrong)
	slices.Sort(promised)
	slices.Sort(realised)
	a.GeoMean, a.Median, a.P95 = geoMean(ratios), percentile(ratios, 50), percentile(ratios, 95)
	a.Worst = percentile(ratios, 100)
	a.GeoMeanLeast, a.MedianLeast, a.P95Least, a.WorstLeast = geoMean(least), percentile(least, 50), percentile(least, 95), percentile(least, 100)
	a.MeanCost = mean(costs)
	a.DecisionP50 = percentile(decisions, 50)
	a.Unseen, a.PredictionError = percentile(unseen, 50), percentile(wrong, 50)
	a.Promised, a.Realised = percentile(promised, 50), percentile(realised, 50)
}

// percentile returns the p-th percentile of ascending values by nearest rank:
// the least value that at least p percent of them do not exceed. Missing if
// there are none.
func percentile(sorted []float64, p int) record.Opt[float64] {
	if len(sorted) == 0 {
		return record.Opt[float64]{}
	}
	rank := (p*len(sorted) + 99) / 100 // ceil(p/100·n)
	return record.Some(sorted[max(rank, 1)-1])
}

// geoMean returns the geometric mean of ascending positive values, which does
// not depend on the order they came in. Missing if there are none.
func geoMean(sorted []float64) record.Opt[float64] {
	if len(sorted) == 0 {
		return record.Opt[float64]{}
	}
	logs := 0.0
	for _, v := range sorted {
		logs += math.Log(v)
	}
	g := math.Exp(logs / float64(len(sorted)))
	return record.Some(min(max(g, sorted[0]), sorted[len(sorted)-1])) // rounding may not leave the range
}

// mean returns the arithmetic mean of ascending values, missing if there are
// none.
func mean(sorted []float64) record.Opt[float64] {
	if len(sorted) == 0 {
		return record.Opt[float64]{}
	}
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	m := sum / float64(len(sorted))
	return record.Some(min(max(m, sorted[0]), sorted[len(sorted)-1]))
}
