package listsched

import (
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// This file is the baselines that the A-SRPT paper compares its policy with
// (Section V, "Baselines"). The paper describes them in a sentence each; here they differ
// in the key and in the blocking rule, which is part of the name:
//
//	SPJF          predicted duration ñ·alpha~   strict
//	SPWF          predicted workload g·ñ·alpha~ strict
//	WCS-Duration  predicted duration            skip
//	WCS-Workload  predicted workload            skip
//	WCS-SubTime   release                       skip
//
// alpha~ is the per-iteration time that Heavy-Edge reaches on the fewest servers
// of the empty cluster, and ñ the predicted number of iterations. The paper
// leaves the selection of GPUs open; see Published.

// Published returns the placement of the baselines in the reading adopted here:
// GPUs of the servers with the most free ones, laid out by Heavy-Edge.
func Published() Options { return Options{Placement: sim.MostAvailable, Layout: HeavyEdge} }

// SPJF is shortest predicted job first: strictly in order of predicted
// duration, so that a long job of few GPUs does not pass a short one that
// waits for many. It ignores o.Blocking.
func SPJF(o Options) *Policy { return strict("spjf", PredictedDuration(o.AllReduce), o) }

// SPWF is shortest predicted workload first: SPJF with durations times gangs.
// It ignores o.Blocking.
func SPWF(o Options) *Policy { return strict("spwf", PredictedWorkload(o.AllReduce), o) }

// WCSDuration is the work-conserving scheduler in order of predicted duration:
// whatever fits starts. It ignores o.Blocking.
func WCSDuration(o Options) *Policy {
	return skip("wcs-duration", PredictedDuration(o.AllReduce), o)
}

// WCSWorkload is the work-conserving scheduler in order of predicted workload.
// It ignores o.Blocking.
func WCSWorkload(o Options) *Policy {
	return skip("wcs-workload", PredictedWorkload(o.AllReduce), o)
}

// WCSSubTime is the work-conserving scheduler in order of release. It ignores
// o.Blocking.
func WCSSubTime(o Options) *Policy { return skip("wcs-subtime", ByRelease, o) }

func strict(name string, key Key, o Options) *Policy {
	o.Blocking = Strict
	return New(name, key, o)
}

func skip(name string, key Key, o Options) *Policy {
	o.Blocking = Skip
	return New(name, key, o)
}

// PredictedDuration returns the key ceil(ñ·alpha~), in microseconds. Loads are
// not part of it. The key remembers the fewest servers of every gang size, so it
// serves one run.
func PredictedDuration(shape heavyedge.AllReduce) Key {
	var parts [][]heavyedge.Part // by gang, for jobs without slices
	var cluster sched.Cluster
	return func(v *sim.View, id sched.JobID) (int64, error) {
		j, err := v.Job(id)
		if err != nil {
			return 0, err
		}
		n, err := v.Predicted(id)
		if err != nil {
			return 0, err
		}
		if parts == nil {
			cluster = v.Hardware()
			parts = make([][]heavyedge.Part, cluster.GPUs()+1)
		}
		job := sched.Job{Stages: j.Stages, Edges: j.Edges}
		fewest := parts[j.Gang]
		if fewest == nil || j.Widths != nil {
			if fewest, err = heavyedge.Fewest(&cluster, &job); err != nil {
				return 0, err
			}
			if j.Widths == nil {
				parts[j.Gang] = fewest
			}
		}
		place, err := heavyedge.Place(&job, fewest, shape)
		if err != nil {
			return 0, err
		}
		t, err := v.TrainTime(id, n, &place)
		return int64(t), err
	}
}

// PredictedWorkload returns the key g·ceil(ñ·alpha~), in GPU-microseconds.
func PredictedWorkload(shape heavyedge.AllReduce) Key {
	duration := PredictedDuration(shape)
	return func(v *sim.View, id sched.JobID) (int64, error) {
		d, err := duration(v, id)
		if err != nil {
			return 0, err
		}
		j, err := v.Job(id)
		return d * int64(j.Gang), err // at most 10,000 GPUs times sched.MaxTime
	}
}
