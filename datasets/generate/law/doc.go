// Package law holds what synthetic traces are drawn from: quantile functions
// ([Table], [LogNormal]), the times of submission ([Cycle]), and the figures of
// the Philly trace, which the embedded sample and package generate share.
//
// Units: seconds, unless the caller's numbers are something else.
package law
