package report

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/internal/output"
)

// json prints the whole report.
func (r *Report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// csv prints one row per method and denominator, or per instance and method.
// Numbers are written in full, in seconds or weight; missing ones are empty.
// Placements are printed where a run holds nothing else.
func (r *Report) csv(w io.Writer, p Part) error {
	out := output.NewCSV(w)
	group := []string{"suite", "family", "params", "model", "objective"}
	switch {
	case len(r.Groups) == 0 && len(r.Placements) > 0:
		r.csvPlacements(out, p)
	case p == Instances:
		r.csvDetails(out, group)
	default:
		r.csvSummaries(out, group)
	}
	out.Flush()
	return out.Error()
}

func (g *Group) csvKey() []string {
	var params []string
	for _, s := range g.Params {
		params = append(params, s.Name+"="+s.Value)
	}
	return []string{g.Suite, g.Family, strings.Join(params, ";"), g.Model, g.Objective}
}

// The writer remembers its first error until Flush.
func (r *Report) csvSummaries(out *output.CSV, group []string) {
	out.Write(append(group, "method", "kind", "class", "instances", "solved", "denominator", "count", "proven_by", "certified",
		"geo_mean", "median", "p95", "worst", "mean_cost", "theorems", "decision_p50_s",
		"jobs_min", "jobs_max", "gpus_min", "gpus_max", "servers_min", "servers_max", "offered_load", "offered_load_min", "offered_load_max", "offered_load_instances", "known",
		"geo_mean_at_least", "median_at_least", "p95_at_least", "worst_at_least", "checkable", "unseen_share", "prediction_error", "deferral_gain_predicted_s", "deferral_gain_s"))
	for i := range r.Groups {
		g := &r.Groups[i]
		sizes := g.csvSizes()
		for k := range g.Methods {
			a := &g.Methods[k]
			var provers []string
			for _, p := range a.ProvenBy {
				provers = append(provers, p.Name+" "+strconv.Itoa(p.N))
			}
			theorems := ""
			if len(a.Theorems) > 0 {
				theorems = a.theoremText()
			}
			row := append(g.csvKey(), a.Method, a.Kind, a.Class, strconv.Itoa(a.Instances), strconv.Itoa(a.Solved),
				a.Denominator.text(g.Maximised), strconv.Itoa(a.Count), strings.Join(provers, ";"), strconv.Itoa(a.Certified),
				full(a.GeoMean), full(a.Median), full(a.P95), full(a.Worst), full(a.MeanCost), theorems, full(a.DecisionP50))
			row = append(append(row, sizes...), a.Known)
			out.Write(append(row, full(a.GeoMeanLeast), full(a.MedianLeast), full(a.P95Least), full(a.WorstLeast), strconv.Itoa(a.Checkable), full(a.Unseen), full(a.PredictionError), full(a.Promised), full(a.Realised)))
		}
	}
}

// csvSizes are what a table's title says of the instances: jobs, GPUs, servers and
// offered load, whose median is the plain column.
func (g *Group) csvSizes() (list []string) {
	for _, r := range []Range{g.Jobs, g.GPUs, g.Servers} {
		list = append(list, strconv.Itoa(r.Min), strconv.Itoa(r.Max))
	}
	if g.Load == nil {
		return append(list, "", "", "", "0")
	}
	for _, v := range []float64{g.Load.Median, g.Load.Min, g.Load.Max} {
		list = append(list, full(record.Some(v)))
	}
	return append(list, strconv.Itoa(g.Load.Known))
}

func (r *Report) csvDetails(out *output.CSV, group []string) {
	out.Write(append(group, "instance", "method", "class", "cost", "denominator", "denominator_value", "proven_by", "certified",
		"ratio", "termination", "message", "offered_load", "known", "ratio_at_least", "best_known_by", "checkable", "unseen_share", "prediction_error"))
	for i := range r.Groups {
		g := &r.Groups[i]
		for k := range g.Details {
			d := &g.Details[k]
			certified, checkable := "", ""
			if d.Denominator != None {
				certified, checkable = strconv.FormatBool(d.Certified), strconv.FormatBool(d.Checkable)
			}
			out.Write(append(g.csvKey(), d.Instance, d.Method, d.Class, full(d.Cost), d.Denominator.text(g.Maximised),
				full(d.DenominatorValue), d.ProvenBy, certified, full(d.Ratio), d.Termination, oneLine(d.Message), full(d.OfferedLoad), d.Known, full(d.AtLeast), d.BestKnownBy, checkable, full(d.Unseen), full(d.PredictionError)))
		}
	}
}

// full prints every digit of a number.
func full(v record.Opt[float64]) string {
	if !v.Valid {
		return ""
	}
	return strconv.FormatFloat(v.V, 'g', -1, 64)
}
