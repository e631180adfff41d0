package explain

import (
	"cmp"
	"math/big"
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
	d := Delay{Job: j, From: e.firstReference[j], To: e.first[j], Lacked: new(big.Int)}
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
	held := map[int]*big.Int{}
	var running []Piece
	for k := range len(times) - 1 {
		at, last := times[k], times[k+1]-times[k]
		running = slices.DeleteFunc(running, func(p Piece) bool { return p.End <= at })
		for len(there) > 0 && there[0].Start <= at {
			running, there = append(running, there[0]), there[1:]
		}
		free := e.GPUs
		for i := range running {
			free -= running[i].GPUs
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
			amount := new(big.Int).Mul(big.NewInt(part), big.NewInt(last))
			d.Lacked.Add(d.Lacked, amount)
			if held[p.Job] == nil {
				held[p.Job] = new(big.Int)
			}
			held[p.Job].Add(held[p.Job], amount)
		}
	}
	for job, amount := range held {
		d.By = append(d.By, Blame{job, amount})
	}
	slices.SortFunc(d.By, func(a, b Blame) int { return cmp.Or(b.Held.Cmp(a.Held), cmp.Compare(a.Job, b.Job)) })
	return d
}
