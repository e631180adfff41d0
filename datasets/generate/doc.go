// Package generate makes synthetic traces that resemble public ones: rows in
// the unified schema, in order of submission, from nothing but a name, a number
// of jobs and a seed.
//
// Nothing in a generated trace ever ran anywhere, and no row is taken from any
// log. What a trace shares with the cluster it is named after are the published
// figures that its profile lists with their sources; docs/generator.md shows
// them beside what comes out, and says what is an assumption.
//
// The model. Programs (the groups) have a number of runs, a user, a GPU demand
// and a time per iteration. Runs are submitted at sittings, a few at a time,
// spread over the time that the program recurs, at rates that follow the day and
// the week. Demands are
// dealt out to whole programs until the published shares are met. The running
// times of a program resemble each other: a run is ranked, first among the runs
// of its demand, by
//
//	z = √ρ·(a standard normal of its program) + √(1−ρ)·(one of its own),
//
// then among all by the normal score of that rank plus a shift that depends on
// the demand; and the run of rank r = 0, 1, … among n gets the quantile (r+U)/n
// of the published law, U uniform on [0, 1). Marginal distributions are thus met
// at any seed, whatever the dependences, and ρ is the correlation of the normal
// scores of two runs of a program, but for the shifts.
//
// With the probability that the profile or [Spec] says, a run repeats: all such
// runs of a program share one draw of z, and with it their running time, that of
// the middle one of their ranks, but for a relative error of noise.
package generate
