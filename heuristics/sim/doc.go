// Package sim replays one instance under one online policy.
//
// The simulator is event-driven and never scans all jobs, all running jobs or
// all servers: an event costs O(log R) for R jobs on the cluster, plus what the
// policy spends. Policies keep queues of their own from the arrivals and
// completions that a [View] reports, and ask the [Cluster]'s indexes for
// placements.
//
// # Order of events
//
// At equal times, events are applied in this order: end of training, end of a
// pause, arrival, end of a load, wake-up; within one kind by job. After all
// events of an instant the policy is asked to decide once. It is asked again
// in the same instant only if it preempted a job whose GPUs became free at
// once (there was nothing to save, or saving takes no time); such a job is then
// in View.Paused. As a job started in this instant cannot be preempted in it,
// this ends.
//
// In a slotted run the policy is asked at the boundaries of Instance.Slot only;
// what happens inside a slot is seen at its end. Loads and pauses end when they
// end, whatever the slot, but a job leaves at the end of the slot in which its
// last iteration is done.
//
// # Execution
//
// A start is a load of Job.Load followed by training, all on one placement. In
// class P a job may be preempted: after some training its state is saved for
// Job.Pause while the GPUs stay held; before any training there is nothing to
// save, the load is aborted and the preemption counts as futile. The next start
// may be on another placement and loads again. In class M
// the same holds, and each start may be on another of the job's sizes, with the
// time of an iteration there. In class S a GPU holds up to two
// jobs, and a job's iterations are slowed down by the largest interference
// factor over the jobs that it shares a GPU with, whatever phase these are in.
// An elastic job is known from the first boundary that is not before its release,
// with all its work. In class Es it keeps its containers until all its mini-batches
// are trained, for the d_j slots of Eq. (2f) of the primal-dual paper. In class EPs it
// may be preempted as in class P, but its containers stay held to the end of the slot
// in which the pause ends; its next start, on containers of any types and number, loads
// for Job.Load, and its first start does not. A policy that resizes a job preempts and
// starts it in one decision, which is possible if Job.Pause is 0.
//
// Progress is a rational number of iterations; training ends at the first
// microsecond at which all iterations are done.
//
// Source: the event semantics of Lazer, SJF-BSBF and the primal-dual paper; the
// choices that these papers leave open are the ones above.
package sim
