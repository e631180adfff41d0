package sched

// OfferedLoad returns the offered load of jobs on so many GPUs: the rate at which
// they come times the mean work of one, over the capacity,
//
//	(n − 1)/span · work/n / gpus,
//
// where n jobs of so much work, Σ gang·duration, and of so much running time,
// Σ duration, are released over the span from the first release to the last, in
// which there are n − 1 times between releases. 1 is as much as the GPUs can do. It
// does not change if all times are multiplied by a number.
//
// It is false for a burst: fewer than two jobs, or a span below the mean running
// time. Such jobs are there at once; how closely their releases follow each other
// says nothing about how much there is to do over time.
//
// Units: work, run and span in the same unit of time. Source: the textbook's
// utilisation factor λ·E[S]/c of a queue with c servers.
func OfferedLoad(n int, work, run, span float64, gpus int) (float64, bool) {
	if n < 2 || gpus < 1 || !(work > 0) || !(span > 0) || span < run/float64(n) {
		return 0, false
	}
	return float64(n-1) / float64(n) * work / span / float64(gpus), true
}
