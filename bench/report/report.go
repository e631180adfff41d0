package report

import (
	"cmp"
	"slices"

	"yardstick/bench/record"
)

// Report is what every format prints.
type Report struct {
	Groups         []Group          `json:"groups"`
	Placements     []PlacementGroup `json:"placements,omitempty"`
	Unsolved       []Problem        `json:"unsolved,omitempty"`       // rows without a verified schedule
	Unplaced       []Problem        `json:"unplaced,omitempty"`       // rows without a placement
	Contradictions []Problem        `json:"contradictions,omitempty"` // rows that beat a proven denominator: a defect
	Summary        Summary          `json:"summary"`

	origin string // seed and versions, for captions
}

// Group holds the rows that may be looked at together: one suite, family,
// setting of the swept parameters and objective.
type Group struct {
	Suite     string      `json:"suite"`
	Family    string      `json:"family"`
	Params    []Setting   `json:"params,omitempty"`
	Model     string      `json:"model"`
	Objective string      `json:"objective"`
	Maximised bool        `json:"maximised"`
	Classes   []string    `json:"classes"` // of the methods, in order of appearance
	Instances int         `json:"instances"`
	Jobs      Range       `json:"jobs"`
	GPUs      Range       `json:"gpus"`
	Servers   Range       `json:"servers"`
	Load      *Loads      `json:"offered_load,omitempty"` // of the instances; missing if none has one
	Best      *Verdict    `json:"best,omitempty"`         // of its policies
	Methods   []Aggregate `json:"methods"`
	Details   []Detail    `json:"details"`
}

// Setting is a swept parameter and its value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Range is the least and the greatest of some numbers; 0 and 0 if there are
// none.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Kind says what a cost was divided by.
type Kind string

// The kinds of denominator.
const (
	Optimum Kind = "optimum"     // proven or certified
	Bound   Kind = "lower bound" // proven; an upper bound where the objective is maximised
	None    Kind = "none"        // nothing is proven: there is a cost and no ratio
)

// Detail is one method on one instance.
type Detail struct {
	Instance         string              `json:"instance"`
	OfferedLoad      record.Opt[float64] `json:"offered_load"` // missing for bursts and elastic jobs
	Method           string              `json:"method"`
	Class            string              `json:"class,omitempty"`
	Cost             record.Opt[float64] `json:"cost"` // s or weight; missing if there is no verified schedule
	Denominator      Kind                `json:"denominator"`
	DenominatorValue record.Opt[float64] `json:"denominator_value"`
	ProvenBy         string              `json:"proven_by,omitempty"` // what proved the optimum or the bound
	Certified        bool                `json:"certified"`           // in exact arithmetic, by a certificate
	Checkable        bool                `json:"checkable"`           // there is a proof that strangers check
	Ratio            record.Opt[float64] `json:"ratio"`
	// AtLeast is the cost over that of the best schedule known, whose class shows what
	// this one can reach: the true ratio lies between it and Ratio.
	AtLeast     record.Opt[float64] `json:"ratio_at_least"`
	BestKnownBy string              `json:"best_known_by,omitempty"`
	// Of what a predictor told the policy; missing where it was told the truth.
	Unseen          record.Opt[float64] `json:"unseen_share"`
	PredictionError record.Opt[float64] `json:"prediction_error"`
	Termination     string              `json:"termination"`
	Message         string              `json:"message,omitempty"`
	Known           string              `json:"known,omitempty"` // of a program: public instances, whose lengths it may know by heart, or fresh ones
}

// Problem is a set of rows that went wrong in one way.
type Problem struct {
	Family    string `json:"family"`
	Objective string `json:"objective"`
	Method    string `json:"method"`
	Reason    string `json:"reason"`
	Instances int    `json:"instances"`
	First     string `json:"first_instance"`
}

// Summary is how the run went.
type Summary struct {
	Dir     string  `json:"dir,omitempty"`
	Cells   int     `json:"cells"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Workers int     `json:"workers"`
	Wall    float64 `json:"wall_s"`
	Digest  string  `json:"result_digest,omitempty"`
}

// New computes the report of a run. Groups, methods and instances keep the
// order in which the run's rows first mention them.
func New(run *record.Run) *Report {
	m := &run.Manifest
	r := &Report{Groups: []Group{}, origin: origin(m), Summary: Summary{Dir: run.Dir, Cells: m.Execution.Cells, Failed: m.Execution.Failed, Skipped: m.Execution.Skipped,
		Workers: m.Execution.Workers, Wall: m.Execution.Wall, Digest: m.ResultDigest}}
	r.Placements, r.Unplaced = placementGroups(run.Placements), unplaced(run.Placements)
	proven := proofs(run)
	for _, rows := range rowsByGroup(run) {
		g := newGroup(rows, m.Params)
		g.check(proven)
		r.Groups = append(r.Groups, g)
		r.Unsolved = append(r.Unsolved, problems(&g, unsolved)...)
		r.Contradictions = append(r.Contradictions, problems(&g, contradiction)...)
	}
	return r
}

// optimum names an optimum of an instance.
type optimum struct{ instance, objective string }

// proofs returns the optima that have a proof that strangers check.
func proofs(run *record.Run) map[optimum]bool {
	proven := map[optimum]bool{}
	for i := range run.Solves {
		if row := &run.Solves[i]; row.ProofStatus == record.Checkable {
			proven[optimum{row.Instance, row.Objective}] = true
		}
	}
	return proven
}

// check notes which denominators are optima with such a proof.
func (g *Group) check(proven map[optimum]bool) {
	count := map[string]int{}
	for i := range g.Details {
		d := &g.Details[i]
		d.Checkable = d.Denominator == Optimum && proven[optimum{d.Instance, g.Objective}]
		if d.Checkable && d.Ratio.Valid {
			count[d.Method]++
		}
	}
	for i := range g.Methods {
		if a := &g.Methods[i]; a.Denominator == Optimum {
			a.Checkable = count[a.Method]
		}
	}
}

// rowsByGroup returns the rows of each group, in the order of the groups.
func rowsByGroup(run *record.Run) [][]*record.Ratio {
	groups := newOrdered[string, []*record.Ratio]()
	for i := range run.Ratios {
		row := &run.Ratios[i]
		g := groups.at(groupKey(row, run.Manifest.Params))
		*g = append(*g, row)
	}
	var list [][]*record.Ratio
	for _, rows := range groups.values {
		list = append(list, *rows)
	}
	return list
}

// groupKey separates its parts by a byte that no name holds.
func groupKey(row *record.Ratio, params []record.Param) string {
	key := row.Suite + "\x00" + row.Family + "\x00" + row.Model + "\x00" + row.Objective
	for _, p := range params {
		key += "\x00" + row.Params[p.Name]
	}
	return key
}

// newGroup computes a group from its rows, of which there is at least one.
func newGroup(rows []*record.Ratio, params []record.Param) Group {
	first := rows[0]
	g := Group{Suite: first.Suite, Family: first.Family, Model: first.Model, Objective: first.Objective, Maximised: first.Sense == record.Max}
	for _, p := range params {
		if v, ok := first.Params[p.Name]; ok {
			g.Params = append(g.Params, Setting{p.Name, v})
		}
	}
	instances := map[string]bool{}
	var loads []record.Opt[float64]
	methods := newOrdered[string, []*record.Ratio]()
	for _, row := range rows {
		if !instances[row.Instance] {
			instances[row.Instance] = true
			loads = append(loads, row.OfferedLoad)
			g.Jobs.add(row.Jobs, len(instances) == 1)
			g.GPUs.add(row.GPUs, len(instances) == 1)
			if row.Servers.Valid {
				g.Servers.add(row.Servers.V, g.Servers == Range{})
			}
		}
		if row.Class != "" && !slices.Contains(g.Classes, row.Class) {
			g.Classes = append(g.Classes, row.Class)
		}
		g.Details = append(g.Details, detail(row))
		of := methods.at(row.Method)
		*of = append(*of, row)
	}
	g.Instances, g.Load = len(instances), NewLoads(loads)
	g.Best = newVerdict(rows)
	for _, of := range methods.values {
		g.Methods = append(g.Methods, aggregate(*of, g.Instances)...)
	}
	return g
}

func (r *Range) add(v int, first bool) {
	if first {
		*r = Range{v, v}
		return
	}
	r.Min, r.Max = min(r.Min, v), max(r.Max, v)
}

// detail finds the row's denominator: the optimum if it is proven, else a
// proven bound, else none.
func detail(row *record.Ratio) Detail {
	d := Detail{Instance: row.Instance, OfferedLoad: row.OfferedLoad, Method: row.Method, Class: row.Class, Cost: row.Cost, Denominator: None,
		Termination: row.Termination, Message: string(row.Message), Unseen: row.UnseenShare, PredictionError: row.PredictionError}
	if row.Fresh.Valid {
		d.Known = map[bool]string{false: "public", true: "fresh"}[row.Fresh.V]
	}
	switch {
	case row.RatioToOptimum.Valid && (row.OptimumStatus == record.Proven || row.OptimumStatus == record.Certified):
		d.Denominator, d.DenominatorValue, d.Ratio = Optimum, row.Optimum, row.RatioToOptimum
		d.ProvenBy = cmp.Or(string(row.OptimumMethod), string(row.LowerBoundMethod))
		d.Certified = row.OptimumStatus == record.Certified
	case row.RatioToLowerBound.Valid:
		d.Denominator, d.DenominatorValue, d.Ratio = Bound, row.LowerBound, row.RatioToLowerBound
		if row.Sense == record.Max {
			d.DenominatorValue = row.UpperBound
		}
		d.ProvenBy, d.Certified = string(row.LowerBoundMethod), row.LowerBoundCertified.V
	}
	if !row.Cost.Valid {
		d.Ratio = record.Opt[float64]{}
		return d
	}
	d.AtLeast, d.BestKnownBy = row.RatioToBestKnown, string(row.BestKnownBy)
	if d.Denominator == Optimum {
		d.AtLeast = d.Ratio
	}
	return d
}

// problems groups the details that wrong gives a reason for.
func problems(g *Group, wrong func(*Detail) string) []Problem {
	found := newOrdered[Problem, Problem]()
	for i := range g.Details {
		d := &g.Details[i]
		reason := wrong(d)
		if reason == "" {
			continue
		}
		p := found.at(Problem{Method: d.Method, Reason: reason})
		if p.Instances == 0 {
			*p = Problem{Family: g.Family, Objective: g.Objective, Method: d.Method, Reason: reason, First: d.Instance}
		}
		p.Instances++
	}
	var list []Problem
	for _, p := range found.values {
		list = append(list, *p)
	}
	return list
}

func unsolved(d *Detail) string {
	switch {
	case d.Cost.Valid:
		return ""
	case d.Message == "":
		return d.Termination
	}
	return d.Termination + ": " + oneLine(d.Message)
}

func contradiction(d *Detail) string {
	if d.Ratio.Valid && d.Ratio.V < 1 {
		return "a verified schedule is better than the proven " + string(d.Denominator) + " of " + cmp.Or(d.ProvenBy, "unknown origin")
	}
	return ""
}

// ordered is a map that remembers the order in which its keys came.
type ordered[K comparable, V any] struct {
	index  map[K]int
	values []*V
}

func newOrdered[K comparable, V any]() *ordered[K, V] { return &ordered[K, V]{index: map[K]int{}} }

// at returns the value of a key, zero at first.
func (o *ordered[K, V]) at(key K) *V {
	i, ok := o.index[key]
	if !ok {
		i = len(o.values)
		o.index[key] = i
		o.values = append(o.values, new(V))
	}
	return o.values[i]
}
