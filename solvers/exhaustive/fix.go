package exhaustive

import (
	"math/bits"

	"yardstick/internal/number"
)

// A schedule that costs less than what is sought starts every job within the window
// that reduced costs leave, see [bounds.JobPrices.Windows]. Windows hold for pooled
// GPUs and for every running time of a job, hence for the plans of the search. What the
// other rules leave out for a plan that costs no more is found there: that plan is
// within the windows too.

// narrow sets the windows of starts for a round. It reports whether there are any: if
// not, no schedule costs less than the ceiling.
func (s *search) narrow() (bool, error) {
	for i := range s.jobs {
		s.first[i], s.last[i] = s.jobs[i].release, never
	}
	if s.prices == nil || !s.exact {
		return true, nil
	}
	if err := s.charge(); err != nil {
		return false, err
	}
	windows, err := s.prices.Windows(s.in, s.obj, s.unscale(s.ceiling))
	if err != nil || windows == nil {
		return false, err
	}
	for i := range s.jobs {
		w := windows[s.jobs[i].id]
		s.first[i], s.last[i] = int64(w.First), int64(w.Last)
	}
	return true, nil
}

// charge makes the excesses of all jobs.
func (s *search) charge() error {
	if s.excess != nil {
		return nil
	}
	least, starts, err := s.prices.Excesses(s.in, s.obj, s.scale, s.best.cost)
	if err != nil || least.Sign() < 0 {
		return err
	}
	s.least = number.NewUint128(least)
	for i := range s.jobs {
		s.excess = append(s.excess, newExcess(starts[s.jobs[i].id]))
	}
	return nil
}

// tooLate reports whether some waiting job has missed its window.
func (s *search) tooLate() bool {
	for set := s.waiting; set != 0; set &= set - 1 {
		if s.last[bits.TrailingZeros64(set)] < s.now {
			return true
		}
	}
	return false
}
