// Package profile describes what one training iteration of a model costs layer
// by layer, and cuts models into pipeline stages.
//
// The way of the data:
//
//	Builtin, ImportPipeDream, ImportDAPPLE, ImportPiper, Read ──> Profile ──Plan, Configs──> []sched.Stage
//
// A [Profile] is a chain of layers with their times and sizes on one GPU for a
// stated mini-batch. It is derived from the published architecture of a model
// and a roofline of the GPU ([Derive]), imported from the profiles that other
// systems publish, or measured by the program in datasets/profiler. A [Plan]
// cuts the chain into stages and gives each a number of replicas.
//
// Units: times are nanoseconds, sizes bytes, both for the whole mini-batch.
// Everything here is a function of its arguments.
package profile
