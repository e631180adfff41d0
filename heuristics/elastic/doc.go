// Package elastic replays one instance of the elastic model under one online
// policy, slot by slot, and holds the policies that the primal-dual paper
// compares its algorithm with.
//
// # Replay
//
// Slot t is [t·slot, (t+1)·slot). A job is known from the first boundary that is
// not before its release, Instance.FirstSlot, and a policy is asked at the
// boundaries at which something happened: in this order, jobs that completed,
// containers that were freed after a pause, arrivals, and a wake-up that the
// policy asked for. A slot in which nothing happens costs nothing.
//
// A policy starts jobs on placements, now. In class Es a job then keeps its
// containers until all its mini-batches are trained, for the d_j slots of
// Eq. (2f). In class EPs it may be preempted at a boundary: what it has trained is
// kept, exactly; its containers stay held for Job.Pause, if that is not 0, and its
// next start, on containers of any types and number, loads for Job.Load before it
// trains. A job that has not trained since its last start has nothing to save: it is
// freed at once, and if it has a pause, the policy is asked again in the same slot. A
// policy that resizes a job preempts and starts it in one decision,
// which is possible if Job.Pause is 0.
//
// # What a policy sees
//
// [View.Known] is the instance with the jobs released so far; of the others
// nothing is known but, where the instance does not list jobs by release, that
// their numbers are taken. Released jobs are known with all their work, W_j, as in
// the paper.
//
// # Baselines
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
