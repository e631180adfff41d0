package maxweight

// Optimal reports whether Schedule is proven to be optimal.
func (o *Optimum) Optimal() bool { return o.Upper.Cmp(o.Weight) <= 0 }
