// Package walk is threshold accepting: the loop that the offline searches of classes
// beyond N share. A search knows how to change its schedule a little, and to take that
// back; the loop decides what stays.
//
// Source: G. Dueck, T. Scheuer, Threshold accepting, J. Comput. Phys. 90 (1990).
package walk

import (
	"cmp"
	"context"
	"math/rand/v2"

	"yardstick/sched"
)

// State is a schedule in the making. Costs are finite, and less is better.
type State interface {
	// Cost is that of the schedule as it is.
	Cost() float64
	// Try changes the schedule a little and returns its cost, or anything above limit
	// if it costs more than that.
	Try(r *rand.Rand, limit float64) float64
	// Undo takes the last change back.
	Undo()
	// Keep remembers the schedule as the best one.
	Keep()
	// Back returns to the one remembered.
	Back()
}

// Run makes so many moves with a seed, and leaves the state at the best schedule met. A
// move stays if it costs at most heat more than what there is; heat falls to nothing,
// quadratically in moves. It returns how many moves were made before the context ended.
func Run(ctx context.Context, s State, seed uint64, moves int, heat float64) int {
	const returns = 8 // to the best one, on the way
	r := rand.New(rand.NewPCG(seed, 0x77616c6b))
	now := s.Cost()
	best := now
	s.Keep()
	made := 0
	for ; made < moves && ctx.Err() == nil; made++ {
		left := 1 - float64(made)/float64(moves)
		limit := now + heat*left*left
		v := s.Try(r, limit)
		if v > limit {
			s.Undo()
		} else if now = v; now < best {
			best = now
			s.Keep()
		}
		if (made+1)%(moves/returns+1) == 0 && now > best {
			s.Back()
			now = best
		}
	}
	s.Back()
	return made
}

// Options of a search.
type Options struct {
	// Moves of each of its rounds; 0 is 5,000. Of few jobs there are fewer: see Count.
	Moves int
	Seed  uint64
	// Schedules are known schedules of the instance, which have passed the verifier.
	// They are starts, and the result may be worse than they are.
	Schedules []*sched.Schedule
}

// Count is the number of moves for n jobs: as many as are asked for, and at most 200 for
// every pair of jobs.
func (o *Options) Count(n int) int {
	const each = 200
	if n < 1000 {
		return min(cmp.Or(o.Moves, 5000), each*n*n)
	}
	return cmp.Or(o.Moves, 5000)
}

// Heat is the first threshold: a tenth of the mean wait, which is what the cost exceeds
// its least by, of n jobs.
func Heat(cost, least float64, n int) float64 {
	return max(0, cost-least) / float64(n) / 10
}

// Cost adds up ends: the sum of weights times ends for totals, else the makespan with a
// thousandth of the mean end, which says of two schedules of one makespan which is
// nearer to a shorter one.
func Cost(obj sched.Objective, weight []float64, end []int64) float64 {
	sum, last := 0.0, int64(0)
	for i, e := range end {
		sum += float64(weight[i] * float64(e))
		last = max(last, e)
	}
	if obj.IsTotal() {
		return sum
	}
	return float64(last) + float64(sum/float64(1000*len(end)))
}

// Weights are what ends count by: 1 each but in weighted totals.
func Weights(in *sched.Instance, obj sched.Objective) []float64 {
	out := make([]float64, len(in.Jobs))
	for i := range out {
		out[i] = 1
		if obj.Weighted() {
			out[i] = in.Jobs[i].Weight
		}
	}
	return out
}
