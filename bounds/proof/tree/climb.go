package tree

import (
	"math"
	"sort"
)

// climber looks for prices that close a node, by subgradients with Polyak's step for the
// value that is needed. Everything here is floating point: it chooses prices, and proves
// nothing about them. Products are rounded before they are added, so that every machine
// chooses the same.
//
// Source: B. T. Polyak, Minimization of unsmooth functionals (1969).
type climber struct {
	at      []float64 // the cells' beginnings, and the end of the last
	price   []float64 // of every cell, and 0 for what comes after
	prefix  []float64
	excess  []float64 // by how much the GPUs held in the cell exceed those there are, times its length
	highest float64   // no price is more
	horizon float64   // where prices end

	cells int // that the time from the node on is cut into
	tries int
}

func newClimber(s *search, highest float64) climber {
	c := climber{highest: highest}
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

// How much is tried; chosen on random instances of 15 to 25 jobs. At nodes with few
// waiting jobs, and at nodes that 60 steps do not close, it is cheaper to ask on.
const (
	most    = 60  // cells that the time from a node on is cut into
	steps   = 60  // at a node
	stall   = 12  // steps that bring nothing
	fewest  = 5   // waiting jobs
	climbs  = 200 // nodes at which prices are looked for, and
	perNode = 100 // one more for so many nodes
)

// run returns prices that are thought to close the node, or nil. It begins with the given
// prices, if any.
func (c *climber) run(s *search, n *node, from *prices) *prices {
	now := float64(n.now)
	if len(n.waiting) < fewest || c.tries >= climbs+len(s.answers)/perNode || c.horizon < now+1 {
		return nil
	}
	c.tries++
	c.grid(now, from)
	base, goal := float128(n.cost), float128(s.goal)
	enough := goal + float64(1e-7*goal) // as prices are rounded
	if s.p.Makespan {
		enough = 1e-7 * float64(float64(s.scale)*float64(s.capacity)*(c.horizon-now))
	}
	target := enough + (enough - goal)
	best, stalled := math.Inf(-1), 0
	for range steps {
		v := base + c.value(s, n)
		if v > enough {
			return c.round(s)
		}
		if v > best {
			if v > best+0.02*(target-v) {
				stalled = 0
			}
			best = v
		} else if stalled++; stalled > stall {
			return nil
		}
		norm := 0.0
		for k := range c.excess {
			if c.price[k] == 0 && c.excess[k] < 0 {
				c.excess[k] = 0
			}
			length := c.at[k+1] - c.at[k]
			norm += float64(c.excess[k] * c.excess[k] / length)
		}
		if norm == 0 {
			return nil
		}
		step := (target - v) / norm
		for k := range c.excess {
			length := c.at[k+1] - c.at[k]
			c.price[k] = min(c.highest, max(0, c.price[k]+float64(step*c.excess[k]/length)))
		}
	}
	return nil
}

// grid cuts the time from now to the horizon into cells, with the given prices.
func (c *climber) grid(now float64, from *prices) {
	c.at, c.price = c.at[:0], c.price[:0]
	c.cells = int(min(most, c.horizon-now)) // times are integers, and no cell is empty
	for k := range c.cells + 1 {
		c.at = append(c.at, math.Floor(now+float64(float64(k)*((c.horizon-now)/float64(c.cells)))))
		p := 0.0
		if from != nil && k < c.cells {
			t := int64(c.at[k])
			if i := sort.Search(len(from.at), func(i int) bool { return from.at[i] > t }) - 1; i >= 0 && i < len(from.price) {
				p = float64(from.price[i])
			}
		}
		c.price = append(c.price, p)
	}
	c.prefix = make([]float64, c.cells+1)
	c.excess = make([]float64, c.cells)
}

// value returns the value of the prices at the node, less what the started jobs cost, and
// sets excess, its subgradient.
func (c *climber) value(s *search, n *node) float64 {
	sum := 0.0
	for k := range c.excess {
		c.prefix[k] = sum
		length := c.at[k+1] - c.at[k]
		sum += float64(c.price[k] * length)
		c.excess[k] = -float64(float64(s.capacity) * length)
	}
	c.prefix[c.cells] = sum
	total := -float64(float64(s.capacity) * sum)
	for _, r := range n.running {
		total += float64(float64(r.gang) * c.hold(c.at[0], float64(r.end), float64(r.gang)))
	}
	for i, j := range n.waiting {
		quick := int64(0)
		if s.quick != nil {
			quick = s.quick[i]
		}
		total += c.choose(s, j, float64(s.early[i]), float64(quick))
	}
	return total
}

// cell returns the cell that holds t, or the number of cells if it is later than all.
func (c *climber) cell(t float64) int {
	if t >= c.at[c.cells] {
		return c.cells
	}
	return sort.Search(len(c.at), func(k int) bool { return c.at[k] > t }) - 1
}

// hold adds GPUs to the excess from one time to another, and returns what one of them pays.
func (c *climber) hold(from, to, gpus float64) float64 {
	a, b := c.cell(from), c.cell(to)
	for k := a; k <= b && k < c.cells; k++ {
		c.excess[k] += float64(gpus * (min(to, c.at[k+1]) - max(from, c.at[k])))
	}
	return c.until(b, to) - c.until(a, from)
}

// until returns what one GPU pays until t, which is in cell k.
func (c *climber) until(k int, t float64) float64 {
	return c.prefix[k] + float64(c.price[k]*(t-c.at[k]))
}

// choose puts a job at its best start, which is not before e or, if it may start now, now
// and for the time given, and returns what it costs and pays there.
func (c *climber) choose(s *search, j int, e, quick float64) float64 {
	d, w, g := float64(s.duration[j]), float64(s.weight[j]), float64(s.gang[j])
	last := float64(s.latest(j))
	t := e
	from, to := c.cell(t), c.cell(t+d)
	at := func() float64 {
		return float64(w*(t+d)) + float64(g*(c.until(to, t+d)-c.until(from, t)))
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
		v := float64(w*(now+quick)) + float64(g*(c.until(to, now+quick)-c.until(0, now)))
		if v < best || e > last {
			c.hold(now, now+quick, g)
			return v
		}
	}
	c.hold(bestAt, bestAt+d, g)
	return best
}

// round returns the prices as integers, without cells that repeat the price before them.
func (c *climber) round(s *search) *prices {
	var at []int64
	var price []uint64
	for k := range c.cells {
		p := uint64(math.Round(c.price[k]))
		if len(price) > 0 && price[len(price)-1] == p || c.at[k] == c.at[k+1] {
			continue
		}
		at, price = append(at, int64(c.at[k])), append(price, p)
	}
	return newPrices(append(at, int64(c.at[c.cells])), price, len(s.weight))
}
