package theorems

import (
	"math/big"
	"math/bits"

	"yardstick/sched"
)

// narrow is the largest whole number of microseconds that sums of a few of are formed of in
// 64 bits.
const narrow = 1 << 60

// wide is a number of 128 bits that is not negative.
type wide struct{ high, low uint64 }

// add adds a product; false if the sum does not fit.
func (x *wide) add(a, b uint64) bool {
	high, low := bits.Mul64(a, b)
	var carry uint64
	x.low, carry = bits.Add64(x.low, low, 0)
	x.high, carry = bits.Add64(x.high, high, carry)
	return carry == 0
}

// rat returns the number.
func (x wide) rat() *big.Rat {
	v := new(big.Int).SetUint64(x.high)
	v.Lsh(v, 64)
	return new(big.Rat).SetInt(v.Or(v, new(big.Int).SetUint64(x.low)))
}

// part is a whole number and a rest of less than one, which is a multiple of 1/of.
type part struct {
	whole    int64
	rest, of uint64 // of < 2^31
}

func (a part) less(b part) bool {
	return a.whole < b.whole || a.whole == b.whole && a.rest*b.of < b.rest*a.of
}

func (a part) rat() *big.Rat {
	return sum(big.NewRat(a.whole, 1), big.NewRat(int64(a.rest), int64(a.of)))
}

// small returns a rational that is a whole number from 0 to narrow.
func small(v *big.Rat) (int64, bool) {
	if !v.IsInt() || !v.Num().IsInt64() {
		return 0, false
	}
	n := v.Num().Int64()
	return n, 0 <= n && n <= narrow
}

// tightest returns the bound of [JobBounds] with the least slack, the first in the order of
// C^v of equal ones, and the sum of all, without making rationals: in 128 bits. It returns
// false if some number is not a whole one, is negative or does not fit, or some job has no
// bound.
func (s *Symbols) tightest(realised bool) (worst JobBound, total *big.Rat, ok bool) {
	total = new(big.Rat)
	var all, work wide
	var delays int64
	var least, tight part
	var rests uint64 // of jobs with the same busy
	widest, before := 0, uint64(0)
	if s.GPUs >= 1<<31 || s.Jobs >= 1<<31 {
		return worst, nil, false
	}
	for n, i := range s.order {
		j := &s.jobs[i]
		virtual, ok1 := small(s.ceiling[i])
		delay, ok2 := small(s.delay[i])
		d, ok3 := int64(j.held()), 0 <= j.held() && j.held() <= narrow
		if !realised {
			d, ok3 = small(s.longest[i])
		}
		widest = max(widest, j.Gang)
		delays += delay
		if busy := s.GPUs - widest + s.Divisor; busy <= 0 || !ok1 || !ok2 || !ok3 || delays > narrow || work.high >= uint64(busy) {
			return worst, nil, false
		} else if uint64(busy) != before {
			total.Add(total, big.NewRat(int64(rests), int64(max(before, 1))))
			before, rests = uint64(busy), 0
		}
		q, rest := bits.Div64(work.high, work.low, before)
		if q > narrow || j.Completion < -narrow || j.Completion > narrow {
			return worst, nil, false
		}
		bound := part{virtual + delays + d + int64(q), rest, before}
		rests += rest
		slack := part{bound.whole - int64(j.Completion), rest, before}
		if n == 0 || slack.less(least) {
			least = slack
			worst, tight = JobBound{Job: sched.JobID(i), Completion: j.Completion}, bound
		}
		if !all.add(uint64(bound.whole), 1) || !work.add(uint64(j.Gang), uint64(d)) {
			return worst, nil, false
		}
	}
	total.Add(total, big.NewRat(int64(rests), int64(max(before, 1))))
	worst.Bound = tight.rat()
	return worst, total.Add(total, all.rat()), true
}
