package mincost

// Variants lists the variants, as printed first.
func Variants() []Variant { return []Variant{Printed, Reset, AtLeastOne} }

func (v Variant) String() string { return [...]string{"", "printed", "reset", "at-least-one"}[v] }
