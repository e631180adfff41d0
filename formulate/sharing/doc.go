// Package sharing solves the GPU-sharing problem in slots (class Ss) exactly.
//
// Jobs start at slot boundaries on a set of GPUs with an accumulation option, and
// keep both. At most two jobs are on a GPU, and their memory must fit it. In a slot
// a job does 1/xi of what it does alone, xi being the largest interference by a job
// that is on one of its GPUs in that slot. It leaves at the end of the slot in
// which its work is done.
//
// [Build] states this as an integer program for any solver, and [SolveProgram] solves
// it. [Solve] searches directly and is faster by orders of magnitude: it takes
// milliseconds for four jobs, where the program takes seconds, and about a second for
// seven.
//
// Loads are not supported, nor GPUs of different memory: all GPUs are alike, so
// that only their number counts, and which of them jobs share.
//
// Source: Problem (15) with Eqs. (8) to (14) of the SJF-BSBF paper, in its slots
// τ. Slips in (10) and (13): GPUs are those of the slot
// before, and a job is done when the integral of its rate is its work, as the text says.
package sharing
