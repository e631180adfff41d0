package elastic

// Optimal reports whether Schedule is proven to be optimal.
func (o *Optimum) Optimal() bool { return o.Lower.Cmp(o.Cost) >= 0 }
