package sim

import (
	"math/big"

	"yardstick/sched"
)

// trainedAt returns when the job's training ends if nothing changes: the first
// microsecond at which all iterations are done. As long as the job has neither
// been preempted nor shared a GPU, that is what Instance.RunTime says. In a
// slotted class the job leaves at the end of that slot.
func (e *engine) trainedAt(r *record) sched.Time {
	end := e.now + r.whole
	if r.done != nil || r.xi != 1 {
		left := new(big.Rat).SetInt64(e.iters(r.job))
		if r.done != nil {
			left.Sub(left, r.done)
		}
		end = e.now + ceil(left.Mul(left, e.iteration(r)))
	}
	return e.boundary(end)
}

// iters returns how many iterations the job takes in all, of an elastic one
// mini-batches.
func (e *engine) iters(id sched.JobID) int64 {
	if e.containers != nil {
		return e.containers.batches(id)
	}
	return e.in.Jobs[id].Iters
}

// iteration returns how many microseconds one iteration takes now, exactly.
func (e *engine) iteration(r *record) *big.Rat {
	if r.alpha == nil {
		alpha, err := e.iterTime(r.job, &r.place)
		if err != nil { // start has vetted the placement
			panic("sim: " + err.Error())
		}
		r.alpha = alpha.Mul(alpha, big.NewRat(int64(sched.Second), 1))
	}
	xi := new(big.Rat).SetFloat64(r.xi)
	return xi.Mul(xi, r.alpha)
}

// progress returns the iterations that a training job has done until now.
func (e *engine) progress(r *record) *big.Rat {
	p := new(big.Rat).SetInt64(int64(e.now - r.since))
	p.Quo(p, e.iteration(r))
	if r.done != nil {
		p.Add(p, r.done)
	}
	return p
}

// settle counts the iterations done until now.
func (e *engine) settle(r *record) {
	if r.since < e.now {
		r.done, r.since = e.progress(r), e.now
	}
}

// ceil returns the least time that is not less than micros, at least 0 and at
// most a time that no schedule reaches.
func ceil(micros *big.Rat) sched.Time {
	if micros.Sign() <= 0 {
		return 0
	}
	q, rest := new(big.Int).QuoRem(micros.Num(), micros.Denom(), new(big.Int))
	if !q.IsInt64() || q.Int64() > int64(sched.MaxTime) {
		return sched.MaxTime + 1
	}
	t := sched.Time(q.Int64())
	if rest.Sign() > 0 {
		t++
	}
	return t
}
