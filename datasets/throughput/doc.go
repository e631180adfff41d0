// Package throughput holds the model of iteration times that Pollux schedules
// by, and fits it to measurements.
//
// With N servers, K replicas and m samples per replica,
//
//	T_grad(m)    = a_grad + b_grad·m
//	T_sync(N, K) = 0                          K = 1
//	               a_local + b_local·(K − 2)  N = 1, K ≥ 2
//	               a_node + b_node·(K − 2)    N ≥ 2
//	T_iter       = (T_grad^γ + T_sync^γ)^(1/γ)
//
// where γ from 1 (one after the other) to 10 (nearly the larger of the two) says
// how far computing and synchronising overlap. Times are in seconds.
//
// Source: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning", OSDI 2021, section 3.2.
package throughput
