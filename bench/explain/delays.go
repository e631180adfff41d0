package explain

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Delay is why a job started later than in the reference.
//
// From the reference's start of the job to this schedule's, the job lacks GPUs at each
// instant: those that the reference started it on, less those that are free. What it lacks
// is held by the jobs that run then, and counted against those that started last, as far
// as they hold so many: against those that could have waited for it.
type Delay struct {
	Job      int
	From, To int64    // start in the reference, start in this schedule
	Lacked   *big.Int // thousandths of GPUs times microseconds, from From to To
	// By are the jobs that held what was lacked, those with most of it first; their Held
	// adds up to Lacked.
	By []Blame
	// Free is for how long, of To − From, the job lacked nothing: enough GPUs were free in
	// all, and it was not started all the same, or those that were free did not fit it.
	Free int64
}

// Blame is what one job held of what another one lacked.
type Blame struct {
	Job  int
	Held *big.Int // thousandths of GPUs times microseconds
}

// Delays returns the jobs that start later than in the reference by most, at most so many;
// nil if the starts of a schedule are not known.
func (e *Explanation) Delays(n int) []Delay {
	if !e.Started() {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(e.Shares), func(s Share) bool { return s.Later <= 0 })
	slices.SortStableFunc(list, func(a, b Share) int { return cmp.Compare(b.Later, a.Later) })
	delays := make([]Delay, min(n, len(list)))
	for i := range delays {
		delays[i] = e.delay(list[i].Job)
	}
	return delays
}

// delay finds what a job waited for.
func (e *Explanation) delay(j int) Delay {
	d := Delay{Job: j, From: e.firstReference[j], To: e.first[j]}
	need := int64(0)
	for i := range e.Reference.Pieces {
		if p := &e.Reference.Pieces[i]; p.Job == j && p.Start == d.From {
			need += p.GPUs
		}
	}
	var there []Piece // in order of start
	times := []int64{d.From, d.To}
	for _, p := range e.This.Pieces {
		if p.Start >= d.To {
			break
		}
		if p.End > d.From {
			there = append(there, p)
			times = append(times, max(p.Start, d.From), min(p.End, d.To))
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	var lackedInAll wide
	held := make([]wide, len(e.Jobs))
	var running []Piece
	free, end := e.GPUs, int64(math.MaxInt64) // end is the earliest of those that run
	for k := range len(times) - 1 {
		at, last := times[k], times[k+1]-times[k]
		if end <= at {
			end = math.MaxInt64
			running = slices.DeleteFunc(running, func(p Piece) bool {
				if p.End <= at {
					free += p.GPUs
					return true
				}
				end = min(end, p.End)
				return false
			})
		}
		for len(there) > 0 && there[0].Start <= at {
			running = append(running, there[0])
			free, end = free-there[0].GPUs, min(end, there[0].End)
			there = there[1:]
		}
		lacked := max(0, need-free)
		if lacked == 0 {
			d.Free += last
		}
		for i := len(running) - 1; i >= 0 && lacked > 0; i-- {
			p := &running[i]
			part := min(p.GPUs, lacked)
			lacked -= part
			if part == 0 {
				continue
			}
			lackedInAll.add(part, last)
			held[p.Job].add(part, last)
		}
	}
	d.Lacked = lackedInAll.value()
	for job := range held {
		if held[job] != (wide{}) {
			d.By = append(d.By, Blame{job, held[job].value()})
		}
	}
	slices.SortFunc(d.By, func(a, b Blame) int { return cmp.Or(b.Held.Cmp(a.Held), cmp.Compare(a.Job, b.Job)) })
	return d
}

// wide is a sum of 128 bits. A job lacks fewer than 2^63 thousandths of GPUs for less than
// 2^52 microseconds.
type wide struct{ high, low uint64 }

// add adds the product of two numbers that are not negative.
func (w *wide) add(a, b int64) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	sum, carry := bits.Add64(w.low, low, 0)
	w.low = sum
	w.high += high + carry
}

func (w wide) value() *big.Int {
	v := new(big.Int).SetUint64(w.high)
	return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(w.low))
}
