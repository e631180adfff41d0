package asrpt

import (
	"encoding/binary"
	"math/big"

	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/partition"
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
	parts   map[int][]heavyedge.Part // the fewest servers, by gang, for jobs without slices
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
	tilde, err := e.reference(j)
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

// reference returns alpha~ of the job, which the probe is about.
func (e *estimator) reference(j *sim.Job) (*big.Rat, error) {
	if e.options.Reference == Least && j.Sharing == nil {
		best, err := partition.AlphaMin(&e.probe, 0)
		if err != nil {
			return nil, err
		}
		return best.Alpha, nil
	}
	parts, err := e.fewest(j)
	if err != nil {
		return nil, err
	}
	place, err := heavyedge.Place(&e.probe.Jobs[0], parts, e.options.AllReduce)
	if err != nil {
		return nil, err
	}
	return e.probe.IterTime(0, &place)
}

// AlphaTilde returns the alpha~ that a policy with these options uses for a job,
// in seconds.
func (o Options) AlphaTilde(in *sched.Instance, id sched.JobID) (*big.Rat, error) {
	if o.Reference == Least {
		best, err := partition.AlphaMin(in, id)
		if err != nil {
			return nil, err
		}
		return best.Alpha, nil
	}
	return heavyedge.AlphaTilde(in, id, o.AllReduce)
}

// fewest returns the fewest servers that the job, which the probe is about,
// fits on.
func (e *estimator) fewest(j *sim.Job) ([]heavyedge.Part, error) {
	if known := e.parts[j.Gang]; known != nil && j.Widths == nil {
		return known, nil
	}
	parts, err := heavyedge.Fewest(&e.probe.Cluster, &e.probe.Jobs[0])
	if err == nil && j.Widths == nil {
		e.parts[j.Gang] = parts
	}
	return parts, err
}

// ask makes the job the one that the probe is about.
func (e *estimator) ask(j *sim.Job) {
	e.probe.Jobs[0] = sched.Job{Stages: j.Stages, Edges: j.Edges, Sharing: j.Sharing, Iters: 1, Weight: 1}
}

// slowest returns alpha_max. In the sharing model placement changes nothing.
func (e *estimator) slowest(tilde *big.Rat) (*big.Rat, error) {
	switch {
	case e.probe.Jobs[0].Sharing != nil:
		return tilde, nil
	case e.options.Slowest == Attained:
		return partition.AlphaMax(&e.probe, 0)
	}
	return partition.AlphaSpread(&e.probe, 0)
}

// shape encodes everything that an estimate depends on besides the cluster.
func shape(j *sim.Job) string {
	b := make([]byte, 0, 64)
	for _, st := range j.Stages {
		for _, v := range []int64{int64(st.Replicas), int64(st.Slices), int64(st.Compute), int64(st.Params), int64(st.SliceSync), int64(st.Boundary)} {
			b = binary.AppendVarint(b, v)
		}
	}
	b = append(b, byte(min(1, len(j.Edges))))
	for _, e := range j.Edges {
		for _, v := range []int64{int64(e.From), int64(e.To), int64(e.Bytes)} {
			b = binary.AppendVarint(b, v)
		}
	}
	if j.Sharing != nil {
		b = binary.AppendVarint(b, int64(j.Sharing.Accumulation[0].Iter))
	}
	return string(b)
}
