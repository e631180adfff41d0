package sim

import (
	"fmt"

	"yardstick/sched"
)

// ideal answers what would be in the empty cluster and for other numbers of
// iterations.
type ideal struct {
	// probe is the instance with one job. It lets Instance.RunTime, which is
	// exact, time a number of iterations that is not the job's own.
	probe   sched.Instance
	cluster *Cluster
	byGang  [][]sched.Share // without stages; nil until asked for
}

func newIdeal(in *sched.Instance) ideal {
	probe := *in
	probe.Jobs = make([]sched.Job, 1)
	return ideal{probe: probe}
}

// Consolidated returns the placement that Consolidate chooses for the job in
// the empty cluster, stages in chain order and, in class S, no devices named:
// the usual stand-in for the best case. It is not always the best one: a job of
// several stages, or one whose remainder server gets few replicas, can be
// faster on more servers. The placement is for reading.
func (v *View) Consolidated(id sched.JobID) (sched.Placement, error) {
	if err := v.gang("placement", id); err != nil {
		return sched.Placement{}, err
	}
	i := &v.ideal
	if i.cluster == nil {
		i.cluster = newCluster(v.engine.in.Cluster.Servers, false)
		i.byGang = make([][]sched.Share, i.cluster.GPUs()+1)
	}
	j := &v.engine.in.Jobs[id]
	if j.Sliced() {
		shares, ok := i.cluster.pickFor(j, Consolidate)
		if !ok {
			return sched.Placement{}, fmt.Errorf("sim: job %d does not fit the empty cluster", id)
		}
		i.cluster.Chain(j.Stages, shares)
		return sched.Placement{Shares: shares}, nil
	}
	gang := j.Gang()
	if i.byGang[gang] == nil {
		i.byGang[gang], _ = i.cluster.Pick(Consolidate, gang)
	}
	shares := i.byGang[gang]
	if len(j.Stages) > 1 {
		shares = append([]sched.Share(nil), shares...)
		i.cluster.Chain(j.Stages, shares)
	}
	return sched.Placement{Shares: shares}, nil
}

// TrainTime returns ceil(iters·alpha), the time that so many iterations of the
// job take on any placement of its gang when it shares no GPU, in exact
// arithmetic. Errors: the placement does not hold the gang; the time exceeds
// sched.MaxTime.
func (v *View) TrainTime(id sched.JobID, iters int64, p *sched.Placement) (sched.Time, error) {
	if _, err := v.state("training time", id); err != nil {
		return 0, err
	}
	if iters < 0 {
		return 0, fmt.Errorf("sim: training time of %d iterations of job %d", iters, id)
	}
	probe := &v.ideal.probe
	probe.Jobs[0] = v.engine.in.Jobs[id]
	probe.Jobs[0].Iters = iters
	t, err := probe.RunTime(0, p)
	if err == nil {
		return t, nil
	}
	if _, err := v.engine.in.IterTime(id, p); err != nil { // names the right job
		return 0, err
	}
	return 0, fmt.Errorf("sim: job %d: %d iterations take more than %v", id, iters, sched.MaxTime)
}

// PredictedTime returns ceil(ñ·alpha) where ñ is the predicted number of
// iterations and alpha the iteration time on the placement of Consolidated.
// Loads and pauses are not part of it.
func (v *View) PredictedTime(id sched.JobID) (sched.Time, error) {
	n, err := v.Predicted(id)
	if err != nil {
		return 0, err
	}
	p, err := v.Consolidated(id)
	if err != nil {
		return 0, err
	}
	return v.TrainTime(id, n, &p)
}
