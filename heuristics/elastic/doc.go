// Package elastic holds the policies that the primal-dual paper compares its
// algorithm with. Package sim replays them.
//
// [FIFO], [DRF], [AntMan] and [Tiresias] are the policies of the paper's
// Section 7 ("Algorithms for comparison"), and [Greedy] is what its Section 7.2
// compares A_maxweight with. The paper describes each in a sentence; what was
// decided beyond that is said where it was.
//
// They place containers with a [Packer]: on one server if one has room, which is
// the fastest (q_j = 1), otherwise with the least sum of shares of the servers'
// capacities. The resource configuration of a job is that of the ideal case: see
// [Ideal].
package elastic
