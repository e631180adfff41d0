package tree

import (
	"math/bits"
	"slices"
	"sort"
	"strconv"

	"yardstick/internal/number"
)

// prices are what a GPU costs per unit of time, times the scale: price[i] from at[i] to
// at[i+1], and nothing before and after.
type prices struct {
	at    []int64
	price []uint64
	sum   []number.Uint128 // of the price from the beginning to at[i]
	table []leasts         // by job; filled when asked for
}

// leasts are the times at which it may be cheapest to start a job, and the least that it
// costs to start at one of these or later.
type leasts struct {
	at   []int64
	cost []number.Uint128
}

func newPrices(at []int64, price []uint64, jobs int) *prices {
	v := &prices{at: at, price: price, sum: make([]number.Uint128, len(at)), table: make([]leasts, jobs)}
	for i, c := range price {
		v.sum[i+1] = v.sum[i].Plus(number.Product(c, uint64(at[i+1]-at[i])))
	}
	return v
}

// text returns the times and prices in turn.
func (v *prices) text() string {
	var b []byte
	for i, c := range v.price {
		b = strconv.AppendInt(b, v.at[i], 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, c, 10)
		b = append(b, ' ')
	}
	return string(strconv.AppendInt(b, v.at[len(v.price)], 10))
}

// until returns what one GPU costs until a time.
func (v *prices) until(t int64) number.Uint128 {
	i := sort.Search(len(v.at), func(i int) bool { return v.at[i] > t }) - 1
	switch {
	case i < 0:
		return number.Uint128{}
	case i == len(v.price):
		return v.sum[i]
	}
	return v.sum[i].Plus(number.Product(v.price[i], uint64(t-v.at[i])))
}

// times returns a times g, which must fit.
func times(a number.Uint128, g int64) number.Uint128 {
	hi, lo := bits.Mul64(a.Lo, uint64(g))
	return number.Uint128{Hi: hi + a.Hi*uint64(g), Lo: lo}
}

// startAt returns what job j costs and pays if it starts at t.
func (s *search) startAt(v *prices, j int, t int64) number.Uint128 {
	return s.run(v, j, t, s.duration[j])
}

// run returns the same of a job that runs for d.
func (s *search) run(v *prices, j int, t, d int64) number.Uint128 {
	end := t + d
	return number.Product(s.weight[j], uint64(end)).Plus(times(v.until(end).Minus(v.until(t)), s.gang[j]))
}

// least returns the least of startAt over all starts from e on. Between two times at
// which the start or the end of the job meets a change of price it is linear, and after
// the last of these it does not fall.
func (s *search) least(v *prices, j int, e int64) number.Uint128 {
	l := &v.table[j]
	if l.at == nil {
		s.fill(v, j)
	}
	best := s.startAt(v, j, e)
	if i := sort.Search(len(l.at), func(i int) bool { return l.at[i] >= e }); i < len(l.at) && l.cost[i].Less(best) {
		best = l.cost[i]
	}
	return best
}

func (s *search) fill(v *prices, j int) {
	l := &v.table[j]
	last := s.latest(j)
	for _, t := range v.at {
		for _, x := range []int64{t, t - s.duration[j]} {
			if s.release[j] <= x && x < last {
				l.at = append(l.at, x)
			}
		}
	}
	l.at = append(l.at, last)
	slices.Sort(l.at)
	l.at = slices.Compact(l.at)
	l.cost = make([]number.Uint128, len(l.at))
	for i := len(l.at) - 1; i >= 0; i-- {
		l.cost[i] = s.startAt(v, j, l.at[i])
		if i+1 < len(l.at) && l.cost[i+1].Less(l.cost[i]) {
			l.cost[i] = l.cost[i+1]
		}
	}
}

// short returns by how much, over the scale, the prices fall short of closing the node;
// less than 0 if they close it.
func (s *search) short(v *prices, n *node) float64 {
	got := n.cost
	from := v.until(n.now)
	for _, r := range n.running {
		got = got.Plus(times(v.until(r.end).Minus(from), r.gang))
	}
	for i, j := range n.waiting {
		least, some := number.Uint128{}, false
		if s.early[i] <= s.latest(j) {
			least, some = s.least(v, j, s.early[i]), true
		}
		if s.quick != nil && s.quick[i] > 0 {
			if now := s.run(v, j, n.now, s.quick[i]); !some || now.Less(least) {
				least, some = now, true
			}
		}
		if !some {
			return -1
		}
		got = got.Plus(least)
	}
	want := s.goal.Plus(times(v.sum[len(v.sum)-1].Minus(from), s.capacity))
	if want.Less(got) {
		return -1
	}
	return float128(want.Minus(got)) / float64(s.scale)
}

func float128(a number.Uint128) float64 { return float64(a.Hi)*(1<<64) + float64(a.Lo) }
