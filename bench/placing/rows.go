package placing

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/bench/record"
	"yardstick/bench/tables"
	"yardstick/solvers/milp"
)

// standing is what all methods together have shown about one objective of one
// case. Comparisons are exact.
type standing struct {
	best    *big.Rat // least verified value; nil if there is none
	bestBy  string
	lower   *big.Rat // greatest proven lower bound; nil if there is none
	lowerBy string
	limited bool // a limit in time or memory shaped lower
}

func (s *standing) reach(value *big.Rat, by string) {
	if value != nil && (s.best == nil || value.Cmp(s.best) < 0) {
		s.best, s.bestBy = value, by
	}
}

// prove takes a bound. Of equal bounds it keeps one that no limit shaped.
func (s *standing) prove(lower *big.Rat, by string, limited bool) {
	if s.lower != nil {
		if order := lower.Cmp(s.lower); order < 0 || order == 0 && (limited || !s.limited) {
			return
		}
	}
	s.lower, s.lowerBy, s.limited = lower, by, limited
}

// check returns tables.ErrBoundViolated if a verified value is below a proven
// bound.
func (s *standing) check(what string, c *Case) error {
	if s.best == nil || s.lower == nil || s.best.Cmp(s.lower) >= 0 {
		return nil
	}
	return fmt.Errorf("%w: the %s of %s on %s is %s, the bound of %s %s", tables.ErrBoundViolated, what, s.bestBy, c.Name(),
		s.best.RatString(), s.lowerBy, s.lower.RatString())
}

// over returns value/denominator; 1 where both are 0, and missing where only
// the denominator is or one is not known.
func over(value, denominator *big.Rat) record.Opt[float64] {
	switch {
	case value == nil || denominator == nil:
		return record.Opt[float64]{}
	case denominator.Sign() != 0:
		return record.FromRat(new(big.Rat).Quo(value, denominator))
	case value.Sign() == 0:
		return record.Some(1.0)
	}
	return record.Opt[float64]{}
}

// gap is value − lower over value, and missing where there is no bound.
func gap(value, lower *big.Rat) record.Opt[float64] {
	if value == nil || lower == nil {
		return record.Opt[float64]{}
	}
	if value.Sign() == 0 {
		return record.Some(0.0)
	}
	g, _ := new(big.Rat).Quo(new(big.Rat).Sub(value, lower), value).Float64()
	if math.Abs(g) > 1e9 {
		return record.Opt[float64]{}
	}
	return record.Some(g)
}

// lightest names the bound of Case.lightestEdges.
const lightest = "lightest-edges"

// Rows makes the rows of placements.arrow, in order, without those that were
// interrupted. The error, tables.ErrBoundViolated, comes beside complete rows.
func Rows(results []Result) ([]record.Placement, error) {
	var rows []record.Placement
	var violation error
	for from := 0; from < len(results); {
		to := from
		alpha, cut := &standing{}, &standing{}
		c := results[from].Case
		cut.prove(c.lightestEdges(), lightest, false)
		for ; to < len(results) && results[to].Case == c; to++ {
			r := &results[to]
			if r.Err != nil || r.Skipped {
				continue
			}
			alpha.reach(r.Alpha, r.Method.Name())
			cut.reach(r.Cut, r.Method.Name())
			if r.Evidence != milp.Proven {
				continue
			}
			if r.Method.Minimises == Alpha {
				alpha.prove(r.Lower, r.Method.Name(), r.limited())
			} else {
				cut.prove(r.Lower, r.Method.Name(), r.limited())
			}
		}
		for _, err := range []error{alpha.check("iteration time", c), cut.check("cut", c)} {
			if violation == nil {
				violation = err
			}
		}
		for i := from; i < to; i++ {
			if !results[i].Skipped {
				rows = append(rows, results[i].row(alpha, cut))
			}
		}
		from = to
	}
	return rows, violation
}

// row makes the row of one result.
func (r *Result) row(alpha, cut *standing) record.Placement {
	c := r.Case
	job := &c.Problem.Jobs[0]
	row := record.Placement{
		Family: c.Family, Instance: c.Instance, InstanceSHA256: c.SHA256, Job: int(c.Job), JobName: record.Text(job.Name),
		Alike: record.Some(c.Alike), GPUs: job.Gang(), Replicas: c.replicasText(), Fragmentation: c.Fragmentation, Seed: c.Seed,
		Parts: c.partsText(), Method: r.Method.Name(), Minimises: record.Text(r.Method.Minimises),
	}
	if r.Err != nil {
		row.Termination, row.Message = string(milp.OtherError), record.Text(r.Err.Error())
		return row
	}
	row.Termination, row.Message = string(r.Termination), record.Text(r.Message)
	row.Wall, row.Repeats, row.WallLimited = record.Some(r.Wall.Seconds()), record.Some(r.Repeats), r.limited() || alpha.limited || cut.limited
	if p := r.Program; p != nil {
		row.Formulation, row.Solver, row.Relation = record.Text(p.Formulation), record.Text(p.Solver), record.Text(p.Relation)
		row.Rows, row.Columns, row.Integers = record.Some(p.Rows), record.Some(p.Columns), record.Some(p.Integers)
		row.Nodes = record.Some(int64(p.Result.Stats.Nodes))
		if p.Result.Stats.PeakRSS > 0 {
			row.PeakRSS = record.Some(p.Result.Stats.PeakRSS)
		}
	}
	if r.Placement != nil {
		row.Alpha, row.AlphaExact = record.FromRat(r.Alpha), record.Exact(r.Alpha)
		row.Cut, row.CutExact = record.FromRat(r.Cut), record.Exact(r.Cut)
		row.Placement = record.Text(placementText(r.Placement))
	}
	row.Lower, row.LowerExact, row.DualStatus = record.FromRat(r.Lower), record.Exact(r.Lower), record.Text(r.Evidence)
	row.GapRel = gap(r.value(), r.Lower)
	if m := r.Method.Minimises; m != None {
		row.Proven = record.Some(r.proven())
		best := alpha.best
		if m == Cut {
			best = cut.best
		}
		switch {
		case best == nil:
		case r.Termination == milp.Infeasible: // a claim that there is no placement at all
			row.Refuted = record.Some(true)
		case r.Evidence == milp.Claimed:
			row.Refuted = record.Some(r.Lower.Cmp(best) > 0)
		}
	}
	row.AlphaLowerBound, row.AlphaLowerBoundMethod = record.FromRat(alpha.lower), record.Text(alpha.lowerBy)
	row.CutLowerBound, row.CutLowerBoundMethod = record.FromRat(cut.lower), record.Text(cut.lowerBy)
	row.AlphaRatioLowerBound, row.CutRatioLowerBound = over(r.Alpha, alpha.lower), over(r.Cut, cut.lower)
	if alpha.closed() {
		row.AlphaOptimum, row.AlphaRatioOptimum = record.FromRat(alpha.best), over(r.Alpha, alpha.best)
	}
	if cut.closed() {
		row.CutOptimum, row.CutRatioOptimum = record.FromRat(cut.best), over(r.Cut, cut.best)
	}
	return row
}

// closed reports whether the optimum is proven.
func (s *standing) closed() bool {
	return s.best != nil && s.lower != nil && s.best.Cmp(s.lower) == 0
}
