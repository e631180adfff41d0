package tree

import (
	"math"
	"slices"
	"sort"
)

// climber looks for prices that close a node, by subgradients with Polyak's step for the
// value that is needed, in directions that keep a share of the one before. Everything here
// is floating point: it chooses prices, and proves nothing about them. Products are rounded
// before they are added, so that every machine chooses the same.
//
// Sources: B. T. Polyak, Minimization of unsmooth functionals (1969); P. Camerini, L. Fratta
// and F. Maffioli, "On improving relaxation methods by modified gradient techniques", Math.
// Program. Study 3 (1975).
type climber struct {
	at      []float64   // the cells' beginnings, and the end of the last
	price   [][]float64 // by row and cell: one row for every GPU, or one for each job
	rate    [][]float64 // by job and cell: what it pays per unit of time
	sum     [][]float64 // by job: what it pays until the cell begins
	excess  [][]float64 // by row: what is held in each cell less what there is, times its length
	packer  packer[float64]
	highest float64 // no price is more
	horizon float64 // where prices end

	cells int // that the time from the node on is cut into
	tries int
}

func newClimber(s *search, highest float64) climber {
	c := climber{highest: highest, packer: packer[float64]{gang: s.gang, capacity: s.capacity}}
	starts := s.claim.Starts
	if starts == nil {
		starts = s.p.List(s.order)
	}
	for j, t := range starts {
		d := s.duration[j]
		if k := len(s.p.Jobs[j].Patterns); k > 0 { // at most
			d = s.p.Jobs[j].Patterns[k-1].Duration
		}
		c.horizon = max(c.horizon, float64(t+d))
	}
	return c
}

// How much is tried; chosen on random instances of 20 jobs. At nodes with few waiting jobs
// it is cheaper to ask on.
const (
	most       = 40      // cells that the time from a node on is cut into
	rootSteps  = 400     // at the first node, of each kind of prices
	steps      = 60      // at the others
	stall      = 20      // steps that bring nothing, and
	halve      = 5       // so many of them for steps to be half as long
	deflection = 0.7     // the share of the last direction in the next one
	fewest     = 5       // waiting jobs, but at the first node
	climbs     = 60      // nodes at which prices are looked for, and
	perNode    = 300     // one more for so many nodes
	packing    = 1 << 14 // jobs times GPUs up to which there are prices by job
)

// run returns prices that close the node as far as it can tell, or the best it found;
// nil if none were looked for. It begins with the given prices.
func (c *climber) run(s *search, n *node, from *prices) *prices {
	now := float64(n.now)
	if len(n.waiting) < fewest && c.tries > 0 || c.tries >= climbs+len(s.answers)/perNode || c.horizon < now+1 {
		return nil
	}
	c.tries++
	patience := steps
	if c.tries == 1 {
		patience = rootSteps
	}
	c.grid(s, now, from)
	if len(c.price) == 1 {
		if c.ascend(s, n, patience) || len(s.gang) == 1 || int64(len(s.gang)) > packing/s.capacity {
			return c.round(s)
		}
		c.each(s, n)
	}
	c.ascend(s, n, patience)
	return c.round(s)
}

// ascend improves prices by at most so many steps, and reports whether they close the node.
func (c *climber) ascend(s *search, n *node, patience int) bool {
	base, goal := float128(n.cost), float128(s.goal)
	enough := goal + float64(1e-7*goal) // as prices are rounded
	if s.p.Makespan {
		enough = 1e-7 * float64(float64(s.scale)*float64(s.capacity)*(c.horizon-float64(n.now)))
	}
	target := enough + (enough - goal)
	best, reference, since, factor := math.Inf(-1), math.Inf(-1), 0, 1.0
	top, direction := copies(c.price), copies(c.price)
	for _, row := range direction {
		clear(row)
	}
	for range patience {
		v := base + c.value(s, n)
		if v > best {
			best = v
			restore(top, c.price)
		}
		if v > enough {
			return true
		}
		if best > reference+0.02*(target-best) {
			reference, since = best, 0
		} else if since++; since%halve == 0 {
			factor /= 2
			restore(c.price, top)
			for _, row := range direction {
				clear(row)
			}
			if since >= stall {
				break
			}
			continue
		}
		norm := 0.0
		for r, row := range direction {
			for k := range row {
				length := c.at[k+1] - c.at[k]
				d := float64(c.excess[r][k]/length) + float64(deflection*row[k])
				if c.price[r][k] == 0 && d < 0 {
					d = 0
				}
				row[k] = d
				norm += float64(float64(d*d) * length)
			}
		}
		if norm == 0 {
			break
		}
		step := factor * (target - v) / norm
		for r, row := range direction {
			for k, d := range row {
				c.price[r][k] = min(c.highest, max(0, c.price[r][k]+float64(step*d)))
			}
		}
	}
	restore(c.price, top)
	return false
}

func copies(list [][]float64) [][]float64 {
	out := make([][]float64, len(list))
	for r, row := range list {
		out[r] = slices.Clone(row)
	}
	return out
}

func restore(to, from [][]float64) {
	for r, row := range from {
		copy(to[r], row)
	}
}

// grid cuts the time from now to the horizon into cells, with the given prices.
func (c *climber) grid(s *search, now float64, from *prices) {
	c.cells = int(min(most, c.horizon-now)) // times are integers, and no cell is empty
	c.at = c.at[:0]
	for k := range c.cells + 1 {
		c.at = append(c.at, math.Floor(now+float64(float64(k)*((c.horizon-now)/float64(c.cells)))))
	}
	c.price = c.rows(len(from.price))
	for r, row := range c.price {
		for k := range row {
			t := int64(c.at[k])
			if i := sort.Search(len(from.at), func(i int) bool { return from.at[i] > t }) - 1; i >= 0 && i < len(from.at)-1 {
				row[k] = float64(from.price[r][i])
			}
		}
	}
	c.rate, c.excess, c.sum = c.price, c.rows(len(c.price)), make([][]float64, len(s.gang))
	if len(c.price) == 1 {
		c.rate = c.rows(len(s.gang))
	}
	for j := range c.sum {
		c.sum[j] = make([]float64, c.cells+1)
	}
}

func (c *climber) rows(n int) [][]float64 {
	list := make([][]float64, n)
	for r := range list {
		list[r] = make([]float64, c.cells)
	}
	return list
}

// each goes on from prices of GPUs to prices of each job. Jobs that are over have none.
func (c *climber) each(s *search, n *node) {
	rate := c.rows(len(s.gang))
	for _, r := range n.running {
		copy(rate[r.job], c.rate[r.job])
	}
	for _, j := range n.waiting {
		copy(rate[j], c.rate[j])
	}
	c.price, c.rate, c.excess = rate, rate, c.rows(len(s.gang))
}

// value returns the value of the prices at the node, less what the started jobs cost, and
// sets excess, its subgradient.
func (c *climber) value(s *search, n *node) float64 {
	total := 0.0
	for r := range c.excess {
		clear(c.excess[r])
	}
	for k := range c.cells {
		length := c.at[k+1] - c.at[k]
		if len(c.price) == 1 {
			c.excess[0][k] = -float64(float64(s.capacity) * length)
			total -= float64(float64(float64(s.capacity)*c.price[0][k]) * length)
			continue
		}
		total -= float64(c.packer.most(func(j int) float64 { return c.price[j][k] }) * length)
		for _, j := range c.packer.set() {
			c.excess[j][k] = -length
		}
	}
	for _, r := range n.running {
		c.pay(s, r.job)
		total += c.hold(s, r.job, c.at[0], float64(r.end))
	}
	for i, j := range n.waiting {
		quick := int64(0)
		if s.quick != nil {
			quick = s.quick[i]
		}
		c.pay(s, j)
		total += c.choose(s, j, float64(s.early[i]), float64(quick))
	}
	return total
}

// pay sets what a job pays.
func (c *climber) pay(s *search, j int) {
	rate, sum := c.rate[j], c.sum[j]
	if len(c.price) == 1 {
		for k, v := range c.price[0] {
			rate[k] = float64(float64(s.gang[j]) * v)
		}
	}
	for k, v := range rate {
		sum[k+1] = sum[k] + float64(v*(c.at[k+1]-c.at[k]))
	}
}

// cell returns the cell that holds t, or the number of cells if it is later than all.
func (c *climber) cell(t float64) int {
	if t >= c.at[c.cells] {
		return c.cells
	}
	return sort.Search(len(c.at), func(k int) bool { return c.at[k] > t }) - 1
}

// hold adds a job to the excess from one time to another, and returns what it pays.
func (c *climber) hold(s *search, j int, from, to float64) float64 {
	row, take := 0, float64(s.gang[j])
	if len(c.price) > 1 {
		row, take = j, 1
	}
	a, b := c.cell(from), c.cell(to)
	for k := a; k <= b && k < c.cells; k++ {
		c.excess[row][k] += float64(take * (min(to, c.at[k+1]) - max(from, c.at[k])))
	}
	return c.until(j, b, to) - c.until(j, a, from)
}

// until returns what a job pays until t, which is in cell k.
func (c *climber) until(j, k int, t float64) float64 {
	if k == c.cells {
		return c.sum[j][k]
	}
	return c.sum[j][k] + float64(c.rate[j][k]*(t-c.at[k]))
}

// choose puts a job at its best start, which is not before e or, if it may start now, now
// and for the time given, and returns what it costs and pays there.
func (c *climber) choose(s *search, j int, e, quick float64) float64 {
	d, w := float64(s.duration[j]), float64(s.weight[j])
	last := float64(s.latest(j))
	t := e
	from, to := c.cell(t), c.cell(t+d)
	at := func() float64 {
		return float64(w*(t+d)) + (c.until(j, to, t+d) - c.until(j, from, t))
	}
	best, bestAt := at(), t
	for from < c.cells {
		step := c.at[from+1] - t
		if to < c.cells {
			step = min(step, c.at[to+1]-(t+d))
		}
		if t+step >= last {
			break
		}
		t += step
		if t >= c.at[from+1] {
			from++
		}
		if to < c.cells && t+d >= c.at[to+1] {
			to++
		}
		if float64(w*(t+d)) > best {
			break
		}
		if v := at(); v < best {
			best, bestAt = v, t
		}
	}
	if quick > 0 {
		now, to := c.at[0], c.cell(c.at[0]+quick)
		v := float64(w*(now+quick)) + (c.until(j, to, now+quick) - c.until(j, 0, now))
		if v < best || e > last {
			c.hold(s, j, now, now+quick)
			return v
		}
	}
	c.hold(s, j, bestAt, bestAt+d)
	return best
}

// round returns the prices as integers, without cells that repeat those before them.
func (c *climber) round(s *search) *prices {
	var at []int64
	price := make([][]uint64, len(c.price))
	for k := range c.cells {
		if k > 0 && c.at[k] == c.at[k-1] {
			continue
		}
		same := len(at) > 0
		for r, row := range c.price {
			p := uint64(math.Round(row[k]))
			same = same && price[r][len(at)-1] == p
			price[r] = append(price[r], p)
		}
		if !same {
			at = append(at, int64(c.at[k]))
		}
		for r := range price {
			price[r] = price[r][:len(at)]
		}
	}
	return s.newPrices(append(at, int64(c.at[c.cells])), price)
}
