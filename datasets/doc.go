// Package datasets turns job traces into scheduling instances: a unified trace
// schema in Parquet, filters, slices, and the building of instances from a
// slice and a cluster.
//
// The way of the data:
//
//	Open ──> Source ──Load──> Trace ──Windows──> Window ──Build──> *sched.Instance
//
// A [Source] streams the rows of a file; a [Trace] holds, in order of
// submission, what instances need of the jobs that a [Selection] keeps, and a
// [Summary] of those it drops; a [Window] is one slice of a trace.
//
// Units: rows are in seconds, as their column names say; instances are in
// integer microseconds and nanoseconds, as package sched defines them.
// Everything made here is a function of the rows, the options and a seed, the
// same on every machine.
package datasets
