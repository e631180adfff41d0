package interval

// Relaxations lists the programs, weakest first.
func Relaxations() []Relaxation { return []Relaxation{PTI, NPTI, CONF} }
