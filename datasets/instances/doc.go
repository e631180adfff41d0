// Package instances makes instances of the four job models out of a window of a
// trace, as the experiments of the four papers do: [Gang] for the A-SRPT paper,
// [Preemptive] for Lazer, [Sharing] for SJF-BSBF and [Elastic] for the
// primal-dual paper. docs/instances.md lists every rule with its source and
// what is an assumption of ours.
//
// The papers are
//
//   - A-SRPT: Luo, Liu, Lee, Shroff, Prediction-Assisted Online Distributed Deep
//     Learning Workload Scheduling in GPU Clusters, INFOCOM 2025;
//   - Lazer: Go et al., Making Sense of Job Preemption for Distributed Deep
//     Learning Acceleration, DAC 2026;
//   - SJF-BSBF: Luo et al., Scheduling Deep Learning Jobs in Multi-Tenant GPU
//     Clusters via Wise Resource Sharing, 2024;
//   - the primal-dual paper, on online scheduling of training jobs made of
//     workers and parameter servers or in a ring, to least total weighted
//     completion time.
//
// An instance is a function of the window (which holds its seed) and the
// options. What is drawn for a job depends on the seed and on the job's own
// row in its source or group, not on its place in the window: a job that two
// windows of one seed share is the same job in both. Arithmetic is in integers, in
// rationals and in [big.Float], which is the same on every machine.
package instances
