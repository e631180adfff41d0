// Package sched is the vocabulary of Yardstick: clusters, jobs, instances,
// placements, schedules, objectives and execution classes, and the model of
// the time one training iteration takes on a placement.
//
// It holds no algorithm that decides anything. Formulations, bounds, policies,
// the simulator and the verifier all speak in these types and meet at
// [Schedule].
//
// Units: every [Time] is an integer number of microseconds since the
// instance's epoch; every [Duration] of one iteration is in nanoseconds; sizes
// are bytes and bandwidths bytes per second. A running time is rounded up to a
// microsecond once, in [Instance.RunTime], and never again.
package sched
