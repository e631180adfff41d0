// Package lazer holds the preemptive policies of Lazer and of its comparison:
// Lazer itself, which defers preemptions that are likely to be futile, shortest
// remaining time first, and the periodic schedulers that repack the cluster at
// multiples of an interval.
//
// A preemption is futile if the job that it made room for is itself preempted
// before it has loaded. T'_k is the remaining training time of job k; a job
// that waits, loads or is paused keeps it.
//
// # Decisions that the source leaves open
//
//   - Algorithm 2 starts from no available GPUs, and Algorithm 1, line 3, queues
//     a job for which it finds no victims: on an idle cluster no job would ever
//     start. Here free GPUs count as available, and a job for which they suffice
//     starts at once. Options.NoFree keeps to the letter.
//   - Algorithm 1, line 12, hands the waiting queue no more than the GPUs of the
//     job that has just completed, so that idle fragments are never put
//     together, and gangs may wait for ever. Here it is offered all free GPUs,
//     at the ends of pauses too. Options.OwnGPUs keeps to the letter.
//   - A job that waits for the pauses of its victims holds what it has. It may
//     be a victim itself; what it holds then goes to the new job.
//   - An interrupted load saves nothing.
//   - What F is, after a choice: see Outcome. The predictor learns from the
//     counterfactual one; with Options.Observed from the load that was wasted.
//   - From what state the predictor starts: it knows nothing, or is warmed up (Warm).
//
// Source: Lazer, section 4 and Algorithms 1 and 2.
package lazer
