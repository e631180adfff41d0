package bounds

import (
	"math"
	"math/big"

	"yardstick/sched"
)

// counter finds what jobs count for on a GPU that they share, see [Places], in floating
// point.
type counter struct {
	p       *placement
	kind    []int     // of each job that is there
	per     []float64 // of each, λ/g
	u, next []float64 // of each
}

// count sets u for the jobs that are there.
//
// With any numbers m_j, u_j = per_j·m_j + max_l per_l (r_lj − m_l) will do: of what l pays on a
// GPU with j, the part beyond per_l·m_l counts for j. Then each u goes half of the way down
// to what the others require, some times over: the sum of two stays large enough.
func (c *counter) count() {
	const rounds = 5
	n := len(c.kind)
	c.u, c.next = append(c.u[:0], make([]float64, n)...), append(c.next[:0], make([]float64, n)...)
	for i, a := range c.kind {
		most := 0.0
		for l, b := range c.kind {
			if l != i {
				for _, r := range c.p.rough[a][b] {
					most = max(most, float64(c.per[l]*(r[1]-c.p.middle[b])))
				}
			}
		}
		c.u[i] = float64(c.per[i]*c.p.middle[a]) + most
	}
	for range rounds {
		for i, a := range c.kind {
			least := 0.0
			for l, b := range c.kind {
				if l != i {
					for _, r := range c.p.rough[a][b] {
						least = max(least, float64(c.per[i]*r[0])+float64(c.per[l]*r[1])-c.u[l])
					}
				}
			}
			c.next[i] = min(c.u[i], (c.u[i]+least)/2)
		}
		c.u, c.next = c.next, c.u
	}
}

// plain sets u so that nobody counts for what others gain: u_j = per_j·s_j.
func (c *counter) plain() {
	c.u = c.u[:0]
	for i, a := range c.kind {
		c.u = append(c.u, float64(c.per[i]*c.p.roughly(a)))
	}
}

// packPlaces is pack for jobs that share GPUs, with the better of two ways to count.
func (k *knapsack) packPlaces(t int) float64 {
	slots, c := len(k.width), &k.places.counter
	k.items, c.kind, c.per = k.items[:0], c.kind[:0], c.per[:0]
	largest := 0.0
	for _, i := range k.order {
		if b := &k.jobs[i]; k.times[t+1] > sched.Time(b.release) {
			per := k.lambda[i*slots+t] / b.gang
			k.items, c.kind, c.per = append(k.items, i), append(c.kind, k.places.kind[b.id]), append(c.per, per)
			largest = max(largest, per)
		}
	}
	if largest == 0 {
		return 0
	}
	c.plain()
	least := k.fill()
	plain := k.chosen(nil)
	c.count()
	k.steps += 6 * len(k.items) * len(k.items)
	if v := k.fill(); v < least {
		least = v
		for _, x := range k.chosen(plain[:0]) {
			k.surplus[k.items[x.item]*slots+t] -= k.mean(x)
		}
		return least
	}
	for _, x := range plain {
		k.surplus[k.items[x.item]*slots+t] -= x.rate
	}
	return least
}

// fill solves the knapsack of a slot.
func (k *knapsack) fill() float64 {
	c, places := &k.places.counter, 2*k.gangs
	size := places + 1
	k.best = append(k.best[:0], make([]float64, size)...)
	k.taken = append(k.taken[:0], make([]uint16, len(k.items)*size)...)
	for q, i := range k.items {
		gang, rate := int(k.jobs[i].gang), k.places.roughly(c.kind[q])
		alone, beside := float64(c.per[q]*k.jobs[i].gang), float64(c.u[q]*k.jobs[i].gang)
		more := float64(c.per[q]*rate) - c.u[q] // with a GPU that nobody shares
		unshared := -1                          // at most
		switch {
		case rate > 0 && more > 0:
			unshared = gang - 1
		case rate > 0:
			unshared = 0
		}
		taken := k.taken[q*size : (q+1)*size]
		k.steps += size * (unshared + 2)
		for room := places; room >= gang; room-- {
			v, how := k.best[room], 0
			if room >= 2*gang && k.best[room-2*gang]+alone > v {
				v, how = k.best[room-2*gang]+alone, 2*gang
			}
			for a := 0; a <= unshared && gang+a <= room; a++ {
				if with := k.best[room-gang-a] + beside + float64(more*float64(a)); with > v {
					v, how = with, gang+a
				}
			}
			k.best[room], taken[room] = v, uint16(how)
		}
	}
	return k.best[places]
}

// choice is an item that a knapsack took, and the job's largest rate.
type choice struct {
	item   int
	shares bool
	rate   float64
}

// chosen appends what the last knapsack took.
func (k *knapsack) chosen(out []choice) []choice {
	size := 2*k.gangs + 1
	for q, room := len(k.items)-1, size-1; q >= 0; q-- {
		how := int(k.taken[q*size+room])
		room -= how
		switch gang := int(k.jobs[k.items[q]].gang); {
		case how == 2*gang:
			out = append(out, choice{q, false, 1})
		case how > 0:
			out = append(out, choice{q, true, k.places.roughly(k.places.counter.kind[q])})
		}
	}
	k.shared = k.shared[:0]
	for _, x := range out {
		if x.shares {
			k.shared = append(k.shared, x.item)
		}
	}
	return out
}

// mean is a job's rate beside any of the others that share, in the mean over their GPUs.
func (k *knapsack) mean(x choice) float64 {
	c := &k.places.counter
	sum, gpus := 0.0, 0.0
	for _, o := range k.shared {
		best := 0.0
		for _, r := range k.places.rough[c.kind[x.item]][c.kind[o]] {
			best = max(best, r[0])
		}
		if o != x.item && best > 0 {
			gang := k.jobs[k.items[o]].gang
			sum, gpus = sum+float64(best*gang), gpus+gang
		}
	}
	if !x.shares || gpus == 0 {
		return x.rate
	}
	return sum / gpus
}

// roughly returns s_j of a kind.
func (p *placement) roughly(kind int) float64 { return math.Ldexp(float64(p.most[kind]), -besideBits) }

// slot is what the exact evaluation sees of a slot: the jobs that are there.
type slot struct {
	p     *placement
	jobs  []int
	price []int64 // of each
	count []int64 // of each, on all of its GPUs together, in units of the prices
}

// slot returns the jobs of slot k with the better of two counts, and K_k, rounded up.
func (p *placement) slot(prices *JobPrices, k int) (*slot, int64) {
	s := &slot{p: p}
	c := counter{p: p}
	largest := 0.0
	for j := range p.length {
		if p.in.Jobs[j].Release < prices.Grid[k+1] {
			price := int64(0)
			if k < len(prices.Price[j]) {
				price = prices.Price[j][k]
			}
			s.jobs, s.price = append(s.jobs, j), append(s.price, price)
			c.kind, c.per = append(c.kind, p.kind[j]), append(c.per, float64(price)/float64(p.in.Jobs[j].Gang()))
			largest = max(largest, c.per[len(c.per)-1])
		}
	}
	for q, j := range s.jobs {
		s.count = append(s.count, shareUp(s.price[q], p.most[p.kind[j]]))
	}
	if largest == 0 {
		return s, 0
	}
	most := s.most()
	c.count()
	other := &slot{p: p, jobs: s.jobs, price: s.price}
	for q, j := range s.jobs {
		const margin = 1e-12 // more than floating point errs
		other.count = append(other.count, int64(math.Ceil(float64((c.u[q]+float64(largest*margin))*float64(p.in.Jobs[j].Gang()))))+1)
	}
	if v := other.most(); v < most && other.enough() {
		return other, v
	}
	return s, most
}

// enough reports whether any two jobs count for what they can pay on a GPU.
func (s *slot) enough() bool {
	p := s.p
	product := func(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
	for q, i := range s.jobs {
		gangI := int64(p.in.Jobs[i].Gang())
		for l, j := range s.jobs[:q] {
			gangJ := int64(p.in.Jobs[j].Gang())
			have := product(s.count[q], gangJ)
			have.Add(have, product(s.count[l], gangI)).Lsh(have, besideBits)
			for _, r := range p.rates[p.kind[i]][p.kind[j]] {
				need := product(r[0], gangJ)
				need.Mul(need, big.NewInt(s.price[q]))
				if need.Add(need, new(big.Int).Mul(product(r[1], gangI), big.NewInt(s.price[l]))).Cmp(have) > 0 {
					return false
				}
			}
		}
	}
	return true
}

// most returns K_k.
func (s *slot) most() int64 {
	places := 2 * int(s.p.gpus)
	best := make([]int64, places+1)
	for q, j := range s.jobs {
		gang, count := s.p.in.Jobs[j].Gang(), s.count[q]
		rate := s.p.most[s.p.kind[j]]
		var beside []int64 // by the number of GPUs that it does not share
		if top := shareUp(s.price[q], rate); rate > 0 {
			beside = append(beside, count)
			for a := 1; a < gang && top > count; a++ {
				beside = append(beside, mixUp(count, top, int64(a), int64(gang)))
			}
		}
		for room := places; room >= gang; room-- {
			if room >= 2*gang {
				best[room] = max(best[room], best[room-2*gang]+s.price[q])
			}
			for a := 0; a < len(beside) && gang+a <= room; a++ {
				best[room] = max(best[room], best[room-gang-a]+beside[a])
			}
		}
	}
	return best[places]
}

// mixUp returns (x·(whole − part) + y·part)/whole, rounded up.
func mixUp(x, y, part, whole int64) int64 {
	v := new(big.Int).Mul(big.NewInt(x), big.NewInt(whole-part))
	v.Add(v, new(big.Int).Mul(big.NewInt(y), big.NewInt(part))).Add(v, big.NewInt(whole-1))
	return v.Quo(v, big.NewInt(whole)).Int64()
}

// shareUp returns v·share/2^besideBits, rounded up.
func shareUp(v, share int64) int64 {
	x := new(big.Int).Mul(big.NewInt(v), big.NewInt(share))
	return x.Add(x, big.NewInt(1<<besideBits-1)).Rsh(x, besideBits).Int64()
}
