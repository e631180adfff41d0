package theorems

import "math/big"

// LazerProgress says that every job is done in the end, which the Lazer paper does not
// state. Its forms are Printed, Algorithms 1 and 2 to the letter, and Sharp, with free
// GPUs counted and offered.
const LazerProgress = "lazer-progress"

// OneRelease is what LazerProgress needs as printed.
const OneRelease Assumption = "every job arrives when jobs run, and fits what it preempts or what one completion releases"

// Progress evaluates LazerProgress on a run in which the given number of jobs are
// never done: Left is that number and Right is 0.
func Progress(form string, leftOut int) Result {
	r := Result{Statement: LazerProgress, Form: form, Left: whole(leftOut), Right: new(big.Rat), AtOptimum: true}
	r.lack(form != Printed || leftOut == 0, OneRelease)
	return decided(r)
}
