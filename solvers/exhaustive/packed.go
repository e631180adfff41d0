package exhaustive

import "slices"

// packed evaluates, for jobs that wait at some time on a cluster whose free GPUs rise in
// steps, the Lagrangian bound with prices by job and slot ([bounds.JobPrices]):
//
//	Σ_j min_{t ≥ a_j} { w_j (t + d_j) + ∫_t^{t+d_j} λ_j } − Σ_k |slot k|·K_k
//
// where K_k is the largest Σ_{j in K} λ_jk over sets K of jobs that may run in slot k and
// whose gangs hold together at most as many GPUs as are free there. Times are from now
// on. In floating point it directs a climb; in integers it proves.
type packed[T int64 | float64] struct {
	grid     []T   // the bounds of slots, from 0 on
	capacity []int // free GPUs by slot
	jobs     []payer[T]
	order    []int // of jobs, by gang, the largest first
	price    []T   // by job and slot

	prefix []T // ∫ of one job's prices until the slot begins
	held   []T // by job and slot: how much of the slot the job runs, less how much it is packed

	items []int
	best  []T
	taken []bool
	steps int // of knapsacks, and starts looked at
}

// payer is a job that chooses its start by its prices.
type payer[T int64 | float64] struct {
	from, length, weight T
	gang                 int
	first                int // the slot of from
	end                  int // the slot of from+length
}

// on takes on a grid and what is free in its slots, before jobs are added.
func (p *packed[T]) on(grid []T, capacity []int) {
	p.grid, p.capacity, p.prefix = grid, capacity, make([]T, len(grid))
}

// add adds a job, whose prices are the next ones.
func (p *packed[T]) add(j payer[T]) {
	j.first, j.end = p.slot(j.from), p.slot(j.from+j.length)
	p.order = append(p.order, len(p.jobs))
	p.jobs = append(p.jobs, j)
}

// sort orders the jobs for pack, after the last has been added.
func (p *packed[T]) sort() {
	slices.SortStableFunc(p.order, func(a, b int) int { return p.jobs[b].gang - p.jobs[a].gang })
}

func (p *packed[T]) width(k int) T { return p.grid[k+1] - p.grid[k] }

func (p *packed[T]) slots() int { return len(p.grid) - 1 }

// slot returns the slot of a time, or as many as there are if that is past the last.
func (p *packed[T]) slot(t T) int {
	lo, hi := 0, len(p.grid)
	for lo < hi {
		if mid := (lo + hi) / 2; p.grid[mid] > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo - 1
}

// value returns the bound and, if asked, sets held.
func (p *packed[T]) value(subgradient bool) T {
	n, total := p.slots(), T(0)
	if subgradient {
		p.held = append(p.held[:0], make([]T, len(p.price))...)
	}
	for q := range p.jobs {
		least, at := p.choose(q, nil)
		total += least
		if subgradient {
			p.hold(q, at)
		}
	}
	for k := range n {
		total -= T(p.pack(k, subgradient) * p.width(k))
	}
	return total
}

// choose returns the least term of a job and the start that has it. It visits the starts
// at which the term bends until waiting alone costs more, or all that see asks for.
func (p *packed[T]) choose(q int, see func(at, term T) bool) (least, start T) {
	n, j, price := p.slots(), &p.jobs[q], p.price[q*p.slots():(q+1)*p.slots()]
	sum := T(0)
	for k := j.first; k < n; k++ {
		p.prefix[k] = sum
		sum += T(price[k] * p.width(k))
	}
	p.prefix[n] = sum
	of := func(k int) T {
		if k < n {
			return price[k]
		}
		return 0
	}
	from, to, at, end := j.first, j.end, j.from, j.from+j.length
	term := T(j.weight*end) + p.prefix[to] - p.prefix[from] + T(of(to)*(end-p.grid[to])) - T(of(from)*(at-p.grid[from]))
	least, start = term, at
	if see != nil && !see(at, term) {
		return least, start
	}
	for from < n {
		slope := j.weight + of(to) - of(from)
		step := p.grid[from+1] - at
		f, t := from+1, to
		if to < n {
			if until := p.grid[to+1] - end; until < step {
				step, f, t = until, from, to+1
			} else if until == step {
				t = to + 1
			}
		}
		from, to, at, end = f, t, at+step, end+step
		p.steps++
		term += T(slope * step)
		if see != nil {
			if !see(at, term) {
				break
			}
		} else if T(j.weight*end) >= least {
			break
		}
		if term < least {
			least, start = term, at
		}
	}
	return least, start
}

// hold adds what a job that starts then runs of every slot.
func (p *packed[T]) hold(q int, at T) {
	n, j := p.slots(), &p.jobs[q]
	end := at + j.length
	for k := p.slot(at); k < n && p.grid[k] < end; k++ {
		p.held[q*n+k] += (min(end, p.grid[k+1]) - max(at, p.grid[k])) / p.width(k)
	}
}

// pack returns the value of the best set of jobs in a slot and, if asked, takes one from
// what its jobs hold.
func (p *packed[T]) pack(k int, subgradient bool) T {
	n, room := p.slots(), p.capacity[k]
	p.items = p.items[:0]
	sum, all := 0, T(0)
	for from := 0; from < len(p.order); {
		// Of each size, the dearest that fit.
		gang, begin := p.jobs[p.order[from]].gang, len(p.items)
		for ; from < len(p.order) && p.jobs[p.order[from]].gang == gang; from++ {
			q := p.order[from]
			v := p.price[q*n+k]
			if v <= 0 || gang > room {
				continue
			}
			p.items = append(p.items, q)
			at := len(p.items) - 1
			for at > begin && p.price[p.items[at-1]*n+k] < v {
				p.items[at] = p.items[at-1]
				at--
			}
			p.items[at] = q
			if most := begin + room/gang; len(p.items) > most {
				p.items = p.items[:most]
			}
		}
		for _, q := range p.items[begin:] {
			sum += gang
			all += p.price[q*n+k]
		}
	}
	p.steps += len(p.order)
	if sum <= room {
		if subgradient {
			for _, q := range p.items {
				p.held[q*n+k]--
			}
		}
		return all
	}
	size := room + 1
	p.steps += len(p.items) * size
	p.best = append(p.best[:0], make([]T, size)...)
	if subgradient {
		p.taken = append(p.taken[:0], make([]bool, len(p.items)*size)...)
	}
	for x, q := range p.items {
		gang, v := p.jobs[q].gang, p.price[q*n+k]
		for r := room; r >= gang; r-- {
			if with := p.best[r-gang] + v; with > p.best[r] {
				p.best[r] = with
				if subgradient {
					p.taken[x*size+r] = true
				}
			}
		}
	}
	if subgradient {
		r := room
		for x := len(p.items) - 1; x >= 0; x-- {
			if q := p.items[x]; p.taken[x*size+r] {
				p.held[q*n+k]--
				r -= p.jobs[q].gang
			}
		}
	}
	return p.best[room]
}
