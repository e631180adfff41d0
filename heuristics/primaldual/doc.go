// Package primaldual is the online scheduler of the primal-dual paper for elastic
// jobs: A_maxweight (Algorithm 3) as [Greedy], A_dual (Algorithm 2) as [Dual] and
// A_online (Algorithm 1) as [Policy], which package elastic replays. Algorithms 4
// to 7 are package pricing's exact ones; the printed ones are in package mincost.
//
// # Rounds
//
// At the boundaries tau_i = 1, 2, 4, 8, … slots the policy takes the jobs that are
// released and not planned, and asks which of them weigh most if all are to be done
// within tau_i slots of an empty cluster: a maximum weighted schedule problem. As
// [MaxWeight] is not exact, it asks several times, each time for the jobs that are
// left, until as much weight is scheduled as is possible at once; and appends the
// schedules. With alpha the largest number of problems in any round, the total
// weighted completion time is at most 4·alpha times the least possible one.
//
// The paper fixes alpha in advance, by a formula that needs to know all jobs and is
// several hundred at its sizes, and begins the i-th round's schedule at
// alpha·tau_i: the [Literal] form. The [Certified] form stops when the weight
// scheduled reaches an upper bound on what is possible, found by weak duality
// from the prices of the first problem, and begins when the round before ends. Its
// factor 4·alpha is proven for every run by the run itself, see [Policy.Alpha].
//
// # Prices
//
// [Greedy] offers each job its cheapest schedule, at prices that rise
// exponentially with the load. See [Pricing] for how fast, [Order] for which job
// is next, Greedy.Fill for what to do with those who found it too expensive. The
// guarantee of Theorem 3 is false (erratum "baits"); that with corrected prices is proven, where it
// applies, which is where no job takes much of anything. docs/primaldual.md has the
// proofs, counterexamples and measurements.
//
// Prices are floating-point numbers, which package pricing rounds down to
// integers; whatever they are, schedules are feasible and bounds exact.
package primaldual
