// Package sharing holds the policies of the SJF-BSBF paper: the shortest job
// first with the best sharing benefit first, which lets two jobs share GPUs
// where that pays off, and what it is compared with.
//
//   - [BSBF] is SJF-BSBF, Algorithms 1 and 2.
//   - [FFS] is SJF-FFS: the first fit among GPUs with one job, whether or not
//     that pays off.
//   - [FIFO] and [SJF] keep GPUs exclusive.
//   - [Tiresias] preempts: the job with the least attained service runs.
//
// # Decisions that the source leaves open
//
//   - Both sharing policies act at every arrival and completion. Waiting jobs are
//     passed in the order of the time that they need alone, which the text of
//     Section V-B.1 calls their GPU numbers and Algorithm 1, line 1, their
//     remaining time. One that finds no GPUs is passed over and blocks nobody.
//   - Line 10 of Algorithm 1 goes through GPUs. Here it goes through the jobs
//     that hold a GPU alone, of which each contributes at most what is still
//     needed: Eq. (8) wants exactly G GPUs.
//   - Where these are too few, free GPUs make up the rest (lines 15 to 17 start
//     the job on too few GPUs), and if that is not enough the job waits.
//   - Algorithm 2 returns within its loop and keeps the wrong t: read literally it
//     looks at the whole mini-batch only. Here it takes the fastest accumulation
//     that fits the memory beside the running job, of equally fast ones the one
//     with the fewest steps, and shares if that lowers the sum of the pair's completion times
//     ([theorems.Pair.Share], the sentence after the proof of Theorem 1). Both times of its comparison are with that accumulation.
//     Where interference depends on the accumulation, it compares all options that fit,
//     as Algorithm 2 does over its loop.
//   - A job with several partners accumulates as the least room asks for.
//   - A job is slowed down by its worst partner, as synchronous training waits for
//     it. Which of a partner's GPUs are taken matters to nobody.
//   - GPUs have the least memory of any in the cluster; the source has one kind.
//
// # Exactness
//
// Remaining times are kept in floating point, with an error far below 2^-30 of
// the job's whole time. Comparisons that this leaves in doubt, equality
// included, are made in rational numbers.
//
// Source: Y. Luo et al., Scheduling Deep Learning Jobs in Multi-Tenant GPU
// Clusters via Wise Resource Sharing, Sections V and VI.
package sharing
