package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/sched"
)

// asrptRows returns the rows of one objective, by the method of asrptMethods.
func asrptRows(ratios []record.Ratio, objective sched.Objective) map[string][]record.Ratio {
	rows := map[string][]record.Ratio{}
	for _, r := range ratios {
		if r.Objective == objective.String() && r.Cost.Valid {
			name := asrptKey(r.Method)
			rows[name] = append(rows[name], r)
		}
	}
	return rows
}

// asrptKey is a method's name with those of its parameters that tables tell apart.
func asrptKey(method string) string {
	name, params, _ := strings.Cut(strings.TrimSuffix(method, ")"), "(")
	for param := range strings.SplitSeq(params, ",") {
		switch key, value, _ := strings.Cut(param, "="); {
		case param == asrptPatience, key == "predictor":
			name += " " + param
		case key == "by" && value != "group":
			name += " " + param
		case key == "retrain-every":
			name += " daily"
		}
	}
	return name
}

// asrptFamilies are the rows of each family, in order of appearance.
func asrptFamilies(run *record.Run) (names []string, rows map[string][]record.Ratio) {
	rows = map[string][]record.Ratio{}
	for _, r := range run.Ratios {
		if rows[r.Family] == nil {
			names = append(names, r.Family)
		}
		rows[r.Family] = append(rows[r.Family], r)
	}
	return names, rows
}

// asrptCosts sums costs by the value of a parameter, in seconds.
func asrptCosts(rows []record.Ratio, param string) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range rows {
		sums[r.Params[param]] += r.Cost.V
	}
	return sums
}

// asrptRatios are means of the ratios to the lower bound, by the value of a
// parameter.
func asrptRatios(rows []record.Ratio, param string) map[string]float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, r := range rows {
		if r.RatioToLowerBound.Valid {
			sums[r.Params[param]] += r.RatioToLowerBound.V
			counts[r.Params[param]]++
		}
	}
	for v := range sums {
		sums[v] /= counts[v]
	}
	return sums
}

func number(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", math.Round(1000*v)/10+0) // + 0: no minus zero
}

// asrptFig5 lays out total JCT and makespan, means over the three sets of jobs.
func asrptFig5(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Means over the sets of jobs", Columns: []string{"method", "total JCT, h", "over A-SRPT-Perfect", "over the lower bound", "makespan, h", "unseen", "error"}}
	rows := asrptRows(in.Runs[0].Ratios, sched.TotalJCT)
	perfect := asrptCosts(rows["a-srpt-perfect"], "")[""]
	own := asrptCosts(rows["a-srpt"], "")[""]
	most := math.Inf(-1)
	var orderings []Ordering
	for _, m := range asrptMethods() {
		list := rows[m.method]
		if len(list) == 0 {
			return nil, fmt.Errorf("no schedule of %s is in the results", m.method)
		}
		total, makespan := asrptCosts(list, "")[""], 0.0
		for _, r := range list {
			makespan += r.Makespan.V
		}
		n := float64(len(list))
		unseen, wrong := asrptTold(list)
		table.Rows = append(table.Rows, []string{m.name, number(total/n/3600, 2), number(total/perfect, 3), "≤ " + number(asrptRatios(list, "")[""], 3), number(makespan/n/3600, 2), unseen, wrong})
		if m.method != "a-srpt" && m.method != "a-srpt-perfect" {
			most = max(most, 1-own/total)
			for _, a := range []asrptMethod{{"A-SRPT", "a-srpt"}, {"A-SRPT-Perfect", "a-srpt-perfect"}} {
				orderings = append(orderings, Ordering{a.name + " below " + m.name, asrptCosts(rows[a.method], "")[""], total})
			}
		}
	}
	numbers := []Number{{"A-SRPT above A-SRPT-Perfect, %", "7", 100 * (own/perfect - 1)}, {"A-SRPT below a baseline, at most, %", "44", 100 * most}}
	return &Output{Tables: []Table{table}, Orderings: orderings, Numbers: numbers, Notes: []string{
		"Paper: A-SRPT is 7 % above A-SRPT-Perfect, and up to 44 % below the baselines; work-conserving baselines have the shorter makespans.",
		fmt.Sprintf("Ours: A-SRPT is %s above A-SRPT-Perfect, and at best %s below a baseline.", percent(own/perfect-1), percent(most)),
	}}, nil
}

// asrptTold is what was predicted, on average over the rows: the share of unseen jobs and the error.
func asrptTold(rows []record.Ratio) (unseen, wrong string) {
	var shares, errors []float64
	for _, r := range rows {
		if r.UnseenShare.Valid && r.PredictionError.Valid {
			shares, errors = append(shares, r.UnseenShare.V), append(errors, r.PredictionError.V)
		}
	}
	return percent(average(shares)), percent(average(errors))
}

// asrptPredictor is a row of Figure 9. Mean and median are of all jobs: those of a
// group are what the forest comes to, and are here beside.
type asrptPredictor struct {
	name, method string
	error        string // published, in iterations
}

func asrptPredictors() []asrptPredictor {
	return []asrptPredictor{{"perfect", "a-srpt-perfect", absent}, {"forest", "a-srpt", "369"}, {"forest, retrained daily", "a-srpt daily", absent}, {"median of all", "a-srpt by=overall predictor=median", "563"},
		{"mean of all", asrptMeanOfAll, absent}, {"median of the group", "a-srpt predictor=median", absent}, {"mean of the group", "a-srpt predictor=mean", absent}}
}

// asrptMeanOfAll is the predictor whose mean error is the unit of Figure 4 here.
const asrptMeanOfAll = "a-srpt by=overall predictor=mean"

// asrptErrors are the absolute errors of the predictions in a family, in iterations,
// by method.
func asrptErrors(run *record.Run, rows []record.Ratio) map[string][]float64 {
	cells := map[string]bool{}
	for _, r := range rows {
		cells[r.CellID] = true
	}
	errors := map[string][]float64{}
	for i := range run.Predictions {
		if p := &run.Predictions[i]; cells[p.CellID] {
			key := asrptKey(p.Method)
			errors[key] = append(errors[key], math.Abs(float64(p.Error)))
		}
	}
	return errors
}

// asrptFig9 lays out what the predictor does to A-SRPT, and how well it predicts.
func asrptFig9(_ context.Context, in Input) (*Output, error) {
	out := &Output{Notes: []string{"Paper: with the forest A-SRPT is 14 % less efficient than with perfect predictions, with the others significantly worse."}}
	families, of := asrptFamilies(in.Runs[0])
	for _, family := range families {
		errors := asrptErrors(in.Runs[0], of[family])
		unit := average(errors[asrptMeanOfAll])
		quality := Table{Title: family + ": errors of predictions", Columns: []string{"predictor", "where the mean of all has 593", "paper", "unseen", "right", "mean, iterations", "median"}}
		costs := Table{Title: family + ": A-SRPT by predictor", Columns: []string{"predictor"}}
		objectives := []sched.Objective{sched.TotalJCT, sched.TotalCompletion} // orderings are of the first
		for _, tau := range []string{"1", "100"} {
			for _, o := range objectives {
				costs.Columns = append(costs.Columns, fmt.Sprintf("%v over perfect, tau %s", o, tau), "over the bound")
			}
		}
		for _, p := range asrptPredictors() {
			if list := errors[p.method]; len(list) > 0 {
				slices.Sort(list)
				right, _ := slices.BinarySearchFunc(list, 10*unit/593, func(e, bar float64) int { // the first above
					if e <= bar {
						return -1
					}
					return 1
				})
				unseen := absent
				for _, r := range of[family] {
					if asrptKey(r.Method) == p.method && r.UnseenShare.Valid {
						unseen = percent(r.UnseenShare.V)
					}
				}
				quality.Rows = append(quality.Rows, []string{p.name, number(593*average(list)/unit, 0), p.error, unseen,
					percent(float64(right) / float64(len(list))), strconv.FormatFloat(average(list), 'f', 0, 64), strconv.FormatFloat(list[len(list)/2], 'f', 0, 64)})
			}
			row := []string{p.name}
			for _, suffix := range []string{"", " " + asrptPatience} {
				for k, o := range objectives {
					rows := asrptRows(of[family], o)
					own, perfect := rows[p.method+suffix], rows["a-srpt-perfect"+suffix]
					if len(own) == 0 || len(perfect) == 0 {
						return nil, fmt.Errorf("no schedule of %s is in the results", p.method+suffix)
					}
					row = append(row, number(own[0].Cost.V/perfect[0].Cost.V, 3), "≤ "+number(own[0].RatioToLowerBound.V, 3))
					if k == 0 && p.method == "a-srpt" {
						out.Numbers = append(out.Numbers, Number{fmt.Sprintf("%s, tau %s: the forest above perfect, %%", family, asrptTau(suffix)), "14", 100 * (own[0].Cost.V/perfect[0].Cost.V - 1)})
					}
					if k == 0 && p.method != "a-srpt" {
						lower, upper, who := rows["a-srpt"+suffix][0].Cost.V, own[0].Cost.V, "the forest below "+p.name
						if p.name == "perfect" {
							lower, upper, who = upper, lower, "perfect below the forest"
						}
						out.Orderings = append(out.Orderings, Ordering{fmt.Sprintf("%s, tau %s: %s", family, asrptTau(suffix), who), lower, upper})
					}
				}
			}
			costs.Rows = append(costs.Rows, row)
		}
		out.Tables = append(out.Tables, quality, costs)
	}
	return out, nil
}

// asrptTau is the value of tau that a key's end says.
func asrptTau(suffix string) string {
	if suffix == "" {
		return "1"
	}
	return "100"
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
