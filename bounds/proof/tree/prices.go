package tree

import (
	"slices"
	"sort"
	"strconv"

	"yardstick/internal/number"
)

// prices are what jobs pay per unit of time that they run, times the scale, from at[i] to
// at[i+1], and nothing before and after.
type prices struct {
	at    []int64
	price [][]uint64         // as they are written: one row for every GPU, or one for each job
	rate  [][]uint64         // by job; last, the most that jobs pay which fit together
	sum   [][]number.Uint128 // of the rates from the beginning to at[i]
	table []leasts           // by job; filled when asked for
}

// leasts are the times at which it may be cheapest to start a job, and the least that it
// costs to start at one of these or later.
type leasts struct {
	at   []int64
	cost []number.Uint128
}

func (s *search) newPrices(at []int64, price [][]uint64) *prices {
	n, cells := len(s.gang), len(at)-1
	v := &prices{at: at, price: price, rate: price, table: make([]leasts, n)}
	if len(price) == 1 {
		v.rate = make([][]uint64, n, n+1)
		for j, g := range s.gang {
			v.rate[j] = make([]uint64, cells)
			for k, p := range price[0] {
				v.rate[j][k] = p * uint64(g)
			}
		}
	}
	all := make([]uint64, cells)
	for k := range all {
		if all[k] = uint64(s.capacity) * price[0][k]; len(price) > 1 {
			all[k] = s.packer.most(func(j int) uint64 { return price[j][k] })
		}
	}
	v.rate = append(slices.Clip(v.rate), all)
	v.sum = make([][]number.Uint128, n+1)
	for j, rate := range v.rate {
		v.sum[j] = make([]number.Uint128, cells+1)
		for k, r := range rate {
			v.sum[j][k+1] = v.sum[j][k].Plus(number.Product(r, uint64(at[k+1]-at[k])))
		}
	}
	return v
}

// packer finds which jobs that fit together pay most.
type packer[T uint64 | float64] struct {
	gang     []int64
	capacity int64
	best     []T
	items    []int
	taken    []bool // by item and GPUs
}

// most returns the most that jobs pay which fit together, and leaves in items those that
// pay.
func (p *packer[T]) most(pays func(j int) T) T {
	p.items = p.items[:0]
	held, all := int64(0), T(0)
	for j, g := range p.gang {
		if v := pays(j); v > 0 {
			p.items = append(p.items, j)
			held += g
			all += v
		}
	}
	if held <= p.capacity {
		return all
	}
	size := int(p.capacity) + 1
	p.best = append(p.best[:0], make([]T, size)...)
	p.taken = append(p.taken[:0], make([]bool, size*len(p.items))...)
	for i, j := range p.items {
		g, v := int(p.gang[j]), pays(j)
		taken := p.taken[i*size : (i+1)*size]
		for room := size - 1; room >= g; room-- {
			if with := p.best[room-g] + v; with > p.best[room] {
				p.best[room], taken[room] = with, true
			}
		}
	}
	return p.best[size-1]
}

// set leaves in items a set that pays the most, after most has been asked for it.
func (p *packer[T]) set() []int {
	held := int64(0)
	for _, j := range p.items {
		held += p.gang[j]
	}
	if held <= p.capacity {
		return p.items
	}
	size, room := int(p.capacity)+1, int(p.capacity)
	var set []int
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.taken[i*size+room] {
			set = append(set, p.items[i])
			room -= int(p.gang[p.items[i]])
		}
	}
	return set
}

// text returns how many rows there are, and in turn the times and the prices from then on.
func (v *prices) text() string {
	b := strconv.AppendInt(nil, int64(len(v.price)), 10)
	for i, t := range v.at {
		b = append(b, ' ')
		b = strconv.AppendInt(b, t, 10)
		for _, row := range v.price {
			if i < len(row) {
				b = append(b, ' ')
				b = strconv.AppendUint(b, row[i], 10)
			}
		}
	}
	return string(b)
}

// until returns what job j pays if it runs until a time.
func (v *prices) until(j int, t int64) number.Uint128 {
	i := sort.Search(len(v.at), func(i int) bool { return v.at[i] > t }) - 1
	switch {
	case i < 0:
		return number.Uint128{}
	case i == len(v.at)-1:
		return v.sum[j][i]
	}
	return v.sum[j][i].Plus(number.Product(v.rate[j][i], uint64(t-v.at[i])))
}

// startAt returns what job j costs and pays if it starts at t.
func (s *search) startAt(v *prices, j int, t int64) number.Uint128 {
	return s.run(v, j, t, s.duration[j])
}

// run returns the same of a job that runs for d.
func (s *search) run(v *prices, j int, t, d int64) number.Uint128 {
	end := t + d
	return number.Product(s.weight[j], uint64(end)).Plus(v.until(j, end).Minus(v.until(j, t)))
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
	for _, r := range n.running {
		got = got.Plus(v.until(r.job, r.end).Minus(v.until(r.job, n.now)))
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
	all := len(s.gang)
	want := s.goal.Plus(v.sum[all][len(v.at)-1].Minus(v.until(all, n.now)))
	if want.Less(got) {
		return -1
	}
	return float128(want.Minus(got)) / float64(s.scale)
}

func float128(a number.Uint128) float64 { return float64(a.Hi)*(1<<64) + float64(a.Lo) }
