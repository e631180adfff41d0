// Package sharing solves the GPU-sharing problem in slots (class Ss) as an integer
// program. The model is that of the search in [yardstick/solvers/exhaustive/sharing],
// which is faster by orders of magnitude: a program of four jobs takes seconds.
//
// [Build] states the program for any solver, and [SolveProgram] solves it.
//
// Source: Problem (15) with Eqs. (8) to (14) of the SJF-BSBF paper.
package sharing
