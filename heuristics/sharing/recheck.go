package sharing

import (
	"math/big"

	"yardstick/heuristics/sim"
)

// pays compares two sums of completion times, of the waiting job and of all
// partners that were found for it. With x the largest of its factors, b_r what
// partner r has to go and xi_r its factor, starting now gives
//
//	a·x + Σ_r (b_r·xi_r  if b_r·xi_r ≤ a·x,  else  b_r + a·x·(1 − 1/xi_r))
//
// as if the new job were at its slowest all the time, and waiting for the last
// partner gives max b_r + a + Σ_r b_r.
func (m *bestBenefit) pays(v *sim.View, b *board, c *class, w *waiting, option int) (bool, error) {
	a, x := w.time(&c.options[option].Accumulation), 1.0
	for i := range m.found {
		x = max(x, m.found[i].pair.xiA)
	}
	now, later, last, scale := a*x, a, 0.0, a*x
	for i := range m.found {
		p := &m.found[i]
		job := &b.jobs[p.index]
		left, xi := job.remaining(v.Now()), p.pair.xiB
		if beside := left * xi; beside <= a*x {
			now += beside
		} else {
			now += left + a*x*(1-1/xi)
		}
		later += left
		last = max(last, left)
		scale += job.total*xi + a*x
	}
	later += last
	if slack := 4 * tiny * scale; now < later-slack || now > later+slack {
		return now < later, nil
	}
	return m.paysExactly(v, b, c, w, option, x)
}

func (m *bestBenefit) paysExactly(v *sim.View, b *board, c *class, w *waiting, option int, x float64) (bool, error) {
	gain, last := new(big.Rat), new(big.Rat) // gain of starting now
	var slow *big.Rat
	for i := range m.found {
		pair, err := m.pair(v, b, c, w, option, m.found[i].index)
		if err != nil {
			return false, err
		}
		if slow == nil { // the new job's part of both sums
			slow = new(big.Rat).SetFloat64(x)
			slow.Mul(slow, pair.New)
			gain.Sub(pair.New, slow)
		}
		delay := new(big.Rat).Mul(pair.Running, pair.XiRunning)
		if delay.Cmp(slow) <= 0 {
			delay.Sub(delay, pair.Running)
		} else {
			delay.Quo(slow, pair.XiRunning)
			delay.Sub(slow, delay)
		}
		gain.Sub(gain, delay)
		if pair.Running.Cmp(last) > 0 {
			last = pair.Running
		}
	}
	return gain.Add(gain, last).Sign() >= 0, nil
}
