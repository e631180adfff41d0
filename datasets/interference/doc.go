// Package interference holds tables of the factor by which a training job slows
// down when another shares its GPUs.
//
// xi(a|b) is the time of an iteration of task a while task b runs on the same
// GPUs, divided by its time alone: at least 1, and in general not xi(b|a). It
// is NULL where the two do not fit into the memory together or where nobody
// measured them; it is never 0.
//
// Tables are measured or imported ([ImportGavel]), or [Synthetic].
package interference
