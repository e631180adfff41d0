package sim

import (
	"math/big"

	"yardstick/sched"
)

// runTime returns how long all iterations of a job take on the placement when
// it shares no GPU: its gang's, in class M its size's, or its containers'.
func (e *engine) runTime(id sched.JobID, p *sched.Placement) (sched.Time, error) {
	if e.containers != nil {
		return e.containers.runTime(id, p)
	}
	if !e.malleable {
		return e.in.RunTime(id, p)
	}
	z, err := e.in.SizeOn(id, p)
	if err != nil {
		return 0, err
	}
	return e.in.Jobs[id].SizeTime(z)
}

// iterTime returns the exact time of one iteration in seconds likewise.
func (e *engine) iterTime(id sched.JobID, p *sched.Placement) (*big.Rat, error) {
	if e.containers != nil {
		return e.containers.iterTime(id, p)
	}
	if !e.malleable {
		return e.in.IterTime(id, p)
	}
	z, err := e.in.SizeOn(id, p)
	if err != nil {
		return nil, err
	}
	return big.NewRat(int64(z.Iter), 1e9), nil
}
