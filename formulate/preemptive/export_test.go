package preemptive

// Optimal reports whether Schedule is proven to be optimal.
func (r *Result) Optimal() bool { return r.Cost != nil && r.Lower.Cmp(r.Cost) >= 0 }
