// Package placing runs methods that put one job on given parts of servers side
// by side: heuristics, exact combinatorial searches and integer programs. It is
// the experiment of Table II of the A-SRPT paper as a library.
//
// The way of the data:
//
//	instance or plan ──Choice──> Case ──Run with Methods──> Result ──Rows──> placements.arrow
//
// A [Case] is one job and the parts that it must fill, on a cluster where it is
// alone: in the iteration-time model nothing else matters. Every placement is
// checked by package verify before anything is said about it, its iteration
// time and its cut are evaluated exactly, and what methods prove about a case
// is put together: a placement is optimal where the greatest proven lower bound
// meets the least verified value. Bounds that a solver merely claims divide
// nothing; they are compared with what is verified, and refuted where it lies
// below them.
package placing
