package exhaustive

import "yardstick/internal/number"

// energy bounds the makespan of a node by the work that must be done after each of some
// times t. Job j, which starts at e_j at the earliest, runs for at least
// min(d_j, e_j + d_j − t) of its time after t, and holds its gang all the while. No work is
// cut into parts here that are wider than a gang, as in [relaxation.simulate].
//
// Besides, gangs are counted in units of each size k that there is, rounded down: of
// jobs with ⌊g_j/k⌋ of them, no more run together than have ⌊free/k⌋, as ⌊x⌋ + ⌊y⌋ ≤
// ⌊x + y⌋. Four free GPUs are of no use to gangs of five.
//
// It returns a bound, and ends as soon as one reaches the ceiling. Between two starts t the
// jobs' rate only falls and what is free only grows, so that no t between them proves more
// than both.
//
// Source: Ph. Baptiste, C. Le Pape, W. Nuijten, Constraint-Based Scheduling (2001), on
// energetic reasoning, here for intervals that end with the schedule; F. Clautiaux, C.
// Alves, J. Valério de Carvalho, A survey of dual-feasible and superadditive functions
// (2010).
func (r *relaxation) energy(s *search) (latest int64) {
	for _, size := range s.sizes {
		r.units = r.units[:0]
		for _, i := range r.list { // by start
			r.units = append(r.units, int64(s.jobs[i].gang/size))
		}
		before := int64(-1)
		for q, i := range r.list {
			if t := r.start[i]; t > before && r.units[q] > 0 {
				before = t
				latest = max(latest, r.doneAfter(s, t, int64(size)))
				if bound := (number.Uint128{Lo: uint64(latest)}); !bound.Less(s.ceiling) {
					return latest
				}
			}
		}
	}
	return latest
}

// doneAfter returns when the work that must be done after t can be at the earliest, by
// gangs in the given unit.
func (r *relaxation) doneAfter(s *search, t, unit int64) int64 {
	left := int64(0)
	for q, i := range r.list {
		if end := r.start[i] + s.jobs[i].short; end > t && r.units[q] > 0 {
			left += r.units[q] * min(s.jobs[i].short, end-t)
		}
	}
	if left == 0 {
		return t
	}
	for k := range r.steps {
		free := int64(r.steps[k].total) / unit
		from, until := max(t, r.steps[k].at), int64(never)
		if k+1 < len(r.steps) {
			until = r.steps[k+1].at
		}
		if from >= until {
			continue
		}
		if free > 0 && (until == never || left <= free*(until-from)) {
			return from + (left+free-1)/free
		}
		left -= free * (until - from)
	}
	return t // not reached: every gang fits the empty cluster
}
