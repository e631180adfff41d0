package asrpt

import (
	"encoding/binary"
	"math/big"

	"yardstick/heuristics/heavyedge"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/cuts"
)

// estimate is what the policy derives from a job's stages alone.
type estimate struct {
	unit  *big.Rat // g·alpha~/G in microseconds: the virtual size of one iteration
	limit *big.Rat // COMM·alpha~ in seconds
	heavy bool     // alpha_max ≥ COMM·alpha~
}

// estimator answers questions about one job in the empty cluster and remembers
// the answers for jobs with equal stages.
type estimator struct {
	options Options
	probe   sched.Instance           // the cluster and one job, the one asked about
	parts   map[int][]heavyedge.Part // the fewest servers, by gang
	known   map[string]*estimate     // by shape
}

func newEstimator(c sched.Cluster, o Options) *estimator {
	return &estimator{options: o, parts: map[int][]heavyedge.Part{}, known: map[string]*estimate{},
		probe: sched.Instance{Model: sched.ModelGang, Cluster: c, Jobs: make([]sched.Job, 1)}}
}

// of returns the estimate of a job.
func (e *estimator) of(j *sim.Job) (*estimate, error) {
	key := shape(j)
	if known := e.known[key]; known != nil {
		return known, nil
	}
	e.ask(j)
	if e.parts[j.Gang] == nil {
		e.parts[j.Gang] = heavyedge.Consolidated(&e.probe.Cluster, j.Gang)
	}
	place, err := heavyedge.Place(&e.probe.Jobs[0], e.parts[j.Gang], e.options.AllReduce)
	if err != nil {
		return nil, err
	}
	tilde, err := e.probe.IterTime(0, &place)
	if err != nil {
		return nil, err
	}
	slowest, err := e.slowest(tilde)
	if err != nil {
		return nil, err
	}
	out := &estimate{
		unit:  new(big.Rat).Mul(tilde, big.NewRat(int64(j.Gang)*int64(sched.Second), int64(e.probe.Cluster.GPUs()))),
		limit: new(big.Rat).Mul(tilde, e.options.Comm),
	}
	out.heavy = slowest.Cmp(out.limit) >= 0
	e.known[key] = out
	return out, nil
}

// ask makes the job the one that the probe is about.
func (e *estimator) ask(j *sim.Job) {
	e.probe.Jobs[0] = sched.Job{Stages: j.Stages, Sharing: j.Sharing, Iters: 1, Weight: 1}
}

// slowest returns alpha_max. In the sharing model placement changes nothing.
func (e *estimator) slowest(tilde *big.Rat) (*big.Rat, error) {
	switch {
	case e.probe.Jobs[0].Sharing != nil:
		return tilde, nil
	case e.options.Slowest == Attained:
		return cuts.AlphaMax(&e.probe, 0)
	}
	return cuts.AlphaSpread(&e.probe, 0)
}

// shape encodes everything that an estimate depends on besides the cluster.
func shape(j *sim.Job) string {
	b := make([]byte, 0, 64)
	for _, st := range j.Stages {
		for _, v := range []int64{int64(st.Replicas), int64(st.Compute), int64(st.Params), int64(st.Boundary)} {
			b = binary.AppendVarint(b, v)
		}
	}
	if j.Sharing != nil {
		b = binary.AppendVarint(b, int64(j.Sharing.Accumulation[0].Iter))
	}
	return string(b)
}
