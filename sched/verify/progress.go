package verify

import (
	"math/big"

	"yardstick/sched"
)

// exclusiveProgress checks that the bouts of a job that shares nothing perform
// its iterations: the sum of train/alpha over the bouts is at least n.
func (c *checker) exclusiveProgress(id sched.JobID) {
	j := &c.in.Jobs[id]
	var total sched.Time
	training := 0
	for i := range c.bouts {
		total += c.bouts[i].train
		if c.bouts[i].train > 0 {
			training++
		}
	}
	last := &c.bouts[len(c.bouts)-1] // trains: the grammar holds
	_, constant := constantIteration(j, last.place)
	constant = constant && j.Sharing == nil // bouts may differ in their accumulation
	if training == 1 || constant {
		if c.suffices(j, last.place, total) {
			return
		}
	}
	// Bouts at one speed are put together, lest the denominators grow.
	type pace struct {
		alpha *big.Rat
		train sched.Time
	}
	var paces []pace
next:
	for i := range c.bouts {
		if c.bouts[i].train == 0 {
			continue
		}
		alpha := c.iterationTime(j, c.bouts[i].place)
		for k := range paces {
			if paces[k].alpha.Cmp(alpha) == 0 {
				paces[k].train += c.bouts[i].train
				continue next
			}
		}
		paces = append(paces, pace{alpha, c.bouts[i].train})
	}
	done := new(big.Rat)
	for _, p := range paces {
		share := new(big.Rat).SetInt64(int64(p.train) * 1000)
		done.Add(done, share.Quo(share, p.alpha))
	}
	c.require(id, done, total)
}

// require reports the job if it performed fewer iterations than it has.
func (c *checker) require(id sched.JobID, done *big.Rat, train sched.Time) {
	n := c.in.Jobs[id].Iters
	short := new(big.Rat).SetInt64(n)
	if short.Sub(short, done).Sign() > 0 {
		digits, _ := short.Float64()
		c.err.add(RuleProgress, id, c.jobs[id].Completion, "ends after %v of training, %.3g short of its %d iterations", train, digits, n)
	}
}

// piece is how long a job trained at one interference factor.
type piece struct {
	xi    float64
	train sched.Time
}

func addPiece(pieces []piece, xi float64, train sched.Time) []piece {
	for i := range pieces {
		if pieces[i].xi == xi {
			pieces[i].train += train
			return pieces
		}
	}
	return append(pieces, piece{xi, train})
}

// sharedProgress checks that the pieces of a job's training perform its
// iterations: the sum of train/(iter·xi) is at least n.
func (c *checker) sharedProgress(id sched.JobID, p *sched.Placement, pieces []piece) {
	j := &c.in.Jobs[id]
	if len(pieces) == 1 && pieces[0].xi == 1 && c.suffices(j, p, pieces[0].train) {
		return
	}
	alpha := c.iterationTime(j, p)
	done, total := new(big.Rat), sched.Time(0)
	for _, piece := range pieces {
		per := new(big.Rat).SetFloat64(piece.xi) // exact
		per.Mul(per, alpha)
		share := new(big.Rat).SetInt64(int64(piece.train) * 1000)
		done.Add(done, share.Quo(share, per))
		total += piece.train
	}
	c.require(id, done, total)
}
