package treecheck

import (
	"math/big"
	"sort"
)

// prices are what jobs pay per unit of time that they run, times the scale, from at[i] to
// at[i+1], and nothing outside.
type prices struct {
	at      []*big.Int
	jobs    []payment  // by job
	all     payment    // the most that jobs pay which fit together
	corners [][]corner // by job, filled when asked for
}

// payment is a rate in each stretch of time, and what has been paid when it begins.
type payment struct{ rate, before []*big.Int }

// newPrices reads how many prices there are at a time, and times and prices in turn: one
// price, of every GPU, or one of each job.
func newPrices(in *instance, numbers []*big.Int) (*prices, error) {
	n := len(in.gang)
	if len(numbers) == 0 || !numbers[0].IsInt64() || numbers[0].Int64() != 1 && numbers[0].Int64() != int64(n) {
		return nil, refuse("prices are neither of GPUs nor of all jobs")
	}
	rows := int(numbers[0].Int64())
	if rows > 1 && in.capacity.Cmp(big.NewInt(100_000)) > 0 {
		return nil, refuse("prices are of jobs, and the pool is too large for that")
	}
	v := &prices{jobs: make([]payment, n), corners: make([][]corner, n)}
	rest := numbers[1:]
	for len(rest) > rows {
		v.at = append(v.at, rest[0])
		for j := range v.jobs {
			if rows == 1 {
				v.jobs[j].rate = append(v.jobs[j].rate, product(in.gang[j], rest[1]))
			} else {
				v.jobs[j].rate = append(v.jobs[j].rate, rest[1+j])
			}
		}
		if rows == 1 {
			v.all.rate = append(v.all.rate, product(in.capacity, rest[1]))
		} else {
			v.all.rate = append(v.all.rate, in.dearest(rest[1:1+rows]))
		}
		rest = rest[1+rows:]
	}
	if len(rest) != 1 {
		return nil, refuse("prices do not end with a time")
	}
	v.at = append(v.at, rest[0])
	for i, t := range v.at[1:] {
		if t.Cmp(v.at[i]) <= 0 {
			return nil, refuse("the times of prices do not increase")
		}
	}
	for j := range v.jobs {
		v.add(&v.jobs[j])
	}
	v.add(&v.all)
	return v, nil
}

// add adds up what is paid until each time.
func (v *prices) add(p *payment) {
	p.before = []*big.Int{new(big.Int)}
	for i, rate := range p.rate {
		p.before = append(p.before, sum(p.before[i], product(rate, minus(v.at[i+1], v.at[i]))))
	}
}

// dearest returns the most that jobs pay which fit together, by the sets that are worth
// more than all that hold no more GPUs.
func (in *instance) dearest(pay []*big.Int) *big.Int {
	type set struct{ held, paid *big.Int }
	list := []set{{new(big.Int), new(big.Int)}} // by GPUs, and by what they pay
	for j, p := range pay {
		if p.Sign() == 0 {
			continue
		}
		var merged []set
		add := func(s set) {
			if k := len(merged) - 1; k < 0 || s.paid.Cmp(merged[k].paid) > 0 {
				merged = append(merged, s)
			}
		}
		without := list
		for _, s := range list {
			with := set{sum(s.held, in.gang[j]), sum(s.paid, p)}
			if with.held.Cmp(in.capacity) > 0 {
				break
			}
			for len(without) > 0 && (without[0].held.Cmp(with.held) < 0 || without[0].held.Cmp(with.held) == 0 && without[0].paid.Cmp(with.paid) > 0) {
				add(without[0])
				without = without[1:]
			}
			add(with)
		}
		for _, s := range without {
			add(s)
		}
		list = merged
	}
	return list[len(list)-1].paid
}

// until returns what a job pays that runs from the beginning until t.
func (v *prices) until(p *payment, t *big.Int) *big.Int {
	k := sort.Search(len(v.at), func(i int) bool { return v.at[i].Cmp(t) > 0 }) // the first change after t
	switch k {
	case 0:
		return new(big.Int)
	case len(v.at):
		return p.before[k-1]
	}
	return sum(p.before[k-1], product(p.rate[k-1], minus(t, v.at[k-1])))
}

// between returns what is paid from one time to another.
func (v *prices) between(p *payment, from, to *big.Int) *big.Int {
	return minus(v.until(p, to), v.until(p, from))
}

// rest returns the most that all jobs pay from a time on.
func (v *prices) rest(from *big.Int) *big.Int {
	return minus(v.all.before[len(v.all.before)-1], v.until(&v.all, from))
}
