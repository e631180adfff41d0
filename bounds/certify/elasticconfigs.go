package certify

import (
	"math/big"
	"slices"

	"yardstick/sched"
)

// config is a choice of containers for an elastic job: N workers of type m, with
// parameter servers of type p unless it is a ring, on one server or not.
type config struct {
	m, p, n int
	one     bool
	work    *big.Rat // W_j·θ/N in microseconds: how long it runs, before rounding to slots
}

// configs lists the configurations of a job that some placement in the empty
// cluster has. With parameter servers on several servers nothing is lost by
// putting them on one: each server that hosts some must take the gradients of all
// workers elsewhere.
//
//	θ = v + U + 2π/b,  U and 2π/b times (N − 1)/N in a ring, without 2π/b on one server
//
// Source: Eqs. (1), (2b) to (2i) and (14) of the primal-dual paper.
func (c *Checker) configs(j *sched.Job) []config {
	var out []config
	e := j.Elastic
	for m := range e.Train {
		for p := range e.Update {
			for _, one := range []bool{true, false} {
				for n := 1; n <= e.MaxWorkers && c.placed(e, m, p, n, one); n++ {
					if !one && n == 1 && e.Ring {
						continue // a ring of one worker is on one server
					}
					x := config{m: m, p: p, n: n, one: one, work: c.theta(e, m, p, n, one)}
					x.work.Mul(x.work, big.NewRat(e.Batches, int64(n)))
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// theta returns the time of a mini-batch in microseconds.
func (c *Checker) theta(e *sched.Elastic, m, p, n int, one bool) *big.Rat {
	rest := big.NewRat(int64(e.Update[p]), 1000)
	if !one { // bytes·8 bits, there and back, at b Mbit/s
		bandwidth := c.in.Elastic.Workers[m].Demand[c.in.Elastic.Bandwidth]
		rest.Add(rest, new(big.Rat).Mul(big.NewRat(16, bandwidth), big.NewRat(int64(e.Gradients), 1)))
	}
	if e.Ring {
		rest.Mul(rest, big.NewRat(int64(n-1), int64(n)))
	}
	return rest.Add(rest, big.NewRat(int64(e.Train[m]), 1000))
}

// placed reports whether n workers fit the empty cluster, on one server or on
// several. It need not be exact: to say yes too often makes bounds weaker.
func (c *Checker) placed(e *sched.Elastic, m, p, n int, one bool) bool {
	worker := c.in.Elastic.Workers[m].Demand
	total := 0
	for h := range c.in.Cluster.Servers {
		total = min(total+c.holds(h, worker, n), n)
	}
	for h := range c.in.Cluster.Servers {
		switch {
		case e.Ring && one:
			if c.holds(h, worker, n) == n {
				return true
			}
		case e.Ring:
			return total == n
		case one:
			if c.hosts(h, m, n, p, 1) {
				return true
			}
		default:
			for g := 0; g < n; g++ { // workers beside the parameter servers
				if !c.hosts(h, m, g, p, 1) {
					break
				}
				if c.hosts(h, m, g, p, c.servers(m, p, n-g)) && c.elsewhere(h, worker, n-g) {
					return true
				}
			}
		}
	}
	return false
}

// servers returns how many parameter servers take the gradients of so many workers
// on other servers: at least one.
func (c *Checker) servers(m, p, remote int) int64 {
	bw := c.in.Elastic.Bandwidth
	b, most := c.in.Elastic.Workers[m].Demand[bw], c.in.Elastic.Servers[p].Demand[bw]
	return max(1, up(mul(b, int64(remote)), most))
}

// holds returns how many containers the empty server holds, up to a limit.
func (c *Checker) holds(h int, demand []int64, most int) int {
	for r, v := range demand {
		if v > 0 {
			most = int(min(int64(most), c.in.Cluster.Servers[h].Capacity[r]/v))
		}
	}
	return most
}

// elsewhere reports whether the other servers hold so many workers.
func (c *Checker) elsewhere(host int, worker []int64, n int) bool {
	sum := 0
	for h := range c.in.Cluster.Servers {
		if h != host {
			sum += c.holds(h, worker, n)
		}
	}
	return sum >= n
}

// hosts reports whether the empty server holds so many workers and parameter
// servers.
func (c *Checker) hosts(h, m, workers, p int, servers int64) bool {
	for r, room := range c.in.Cluster.Servers[h].Capacity {
		e, z := c.in.Elastic.Workers[m].Demand[r], c.in.Elastic.Servers[p].Demand[r]
		if room = sub(room, mul(e, int64(workers))); room < 0 || z > 0 && servers > room/z {
			return false
		}
	}
	return true
}

// elastic is what bounds know of elastic jobs, in ticks: slots for schedules that
// keep their configuration (Es), and otherwise (F(min)) microseconds, not rounded,
// as work may be split over configurations.
type elastic struct {
	class    sched.Class
	tick     int64 // microseconds
	release  []*big.Rat
	shortest []*big.Rat
	volume   [][][]*big.Rat // by job, configuration and resource
	duration [][]*big.Rat   // by job and configuration; all the shortest where work may be split
}

func (c *Checker) elastic(d *document) (*elastic, error) {
	if c.in.Model != sched.ModelElastic {
		return nil, refuted("it is about elastic jobs, not the %s model", c.in.Model)
	}
	x := &elastic{class: sched.Class{Kind: sched.E, Slotted: true}, tick: int64(c.in.Slot)}
	if d.Class.Kind != sched.E {
		x.class, x.tick = sched.Class{Kind: sched.FluidMin, Slotted: d.Class.Slotted}, 1
	}
	for i := range c.in.Jobs {
		j := &c.in.Jobs[i]
		release := rational(j.Release)
		if x.class.Slotted {
			release = rational(c.nextSlot(j.Release))
		}
		x.release = append(x.release, release.Quo(release, big.NewRat(x.tick, 1)))
		var shortest *big.Rat
		var volumes [][]*big.Rat
		var durations []*big.Rat
		for _, k := range c.configs(j) {
			time := new(big.Rat).Quo(k.work, big.NewRat(x.tick, 1))
			if x.class.Kind == sched.E {
				time = roundUp(time)
			}
			if shortest == nil || time.Cmp(shortest) < 0 {
				shortest = time
			}
			var list []*big.Rat
			for r, e := range c.in.Elastic.Workers[k.m].Demand {
				amount := big.NewRat(e, 1)
				amount.Mul(amount, big.NewRat(int64(k.n), 1))
				if !j.Elastic.Ring { // there is at least one
					amount.Add(amount, big.NewRat(c.in.Elastic.Servers[k.p].Demand[r], 1))
				}
				list = append(list, amount.Mul(amount, time))
			}
			volumes, durations = append(volumes, list), append(durations, time)
		}
		if x.class.Kind != sched.E {
			for k := range durations {
				durations[k] = shortest
			}
		}
		x.shortest, x.volume = append(x.shortest, shortest), append(x.volume, volumes)
		x.duration = append(x.duration, durations)
	}
	return x, nil
}

// totals returns what bounds on sums of completion times know: all jobs can run.
func (c *Checker) elasticTotals(d *document) (*elastic, error) {
	if err := d.totals(); err != nil {
		return nil, err
	}
	x, err := c.elastic(d)
	if err != nil {
		return nil, err
	}
	for i, s := range x.shortest {
		if s == nil {
			return nil, tooHard("job %d runs nowhere", i)
		}
	}
	return x, nil
}

// alone returns the first time at which a job may complete, in ticks.
func (x *elastic) alone(c *Checker, i int) *big.Rat { return x.complete(c, i, x.shortest[i]) }

// complete returns the first time at which a job may complete that takes so long.
func (x *elastic) complete(c *Checker, i int, duration *big.Rat) *big.Rat {
	end := new(big.Rat).Add(x.release[i], duration)
	if !x.class.Slotted {
		return end
	}
	slot := big.NewRat(int64(c.in.Slot)/x.tick, 1)
	return slot.Mul(slot, roundUp(new(big.Rat).Quo(end, slot)))
}

// state returns the proof of a bound on Σ w_j C_j in ticks. Slotted completions are
// whole slots.
func (x *elastic) state(c *Checker, d *document, sum *big.Rat) proof {
	micros := new(big.Rat).Mul(sum, big.NewRat(x.tick, 1))
	if slot := rational(c.in.Slot); x.class.Slotted && d.whole(c.in) {
		micros = slot.Mul(slot, roundUp(micros.Quo(micros, slot)))
	}
	return lower(x.class, d.restate(c.in, micros))
}

// elasticAlone is Σ w_j (r_j + d_j^min).
func (c *Checker) elasticAlone(d *document) (proof, error) {
	if err := d.read(&struct{}{}); err != nil {
		return proof{}, err
	}
	x, err := c.elasticTotals(d)
	if err != nil {
		return proof{}, err
	}
	sum := new(big.Rat)
	for i := range c.in.Jobs {
		sum.Add(sum, new(big.Rat).Mul(d.weight(&c.in.Jobs[i]), x.alone(c, i)))
	}
	return x.state(c, d, sum), nil
}

// busyData choose the machine of elasticBusy.
type busyData struct {
	Mix   []string `json:"mix"`   // λ_r by resource, fractions that add up to at most 1
	Unit  int64    `json:"unit"`  // of the machine's time in a tick
	Sizes []int64  `json:"sizes"` // in units; 0: the job is apart
}

// elasticBusy is mean-busy-time for elastic jobs: for shares λ_r of the resources,
// job j takes at least p_j = min Σ_r λ_r V^r/C^r of one machine, over its
// configurations of volume V. Smaller sizes only ask for less.
func (c *Checker) elasticBusy(d *document) (proof, error) {
	var data busyData
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	x, err := c.elasticTotals(d)
	if err != nil {
		return proof{}, err
	}
	share, err := c.mix(data.Mix)
	if err != nil {
		return proof{}, err
	}
	if len(data.Sizes) != len(c.in.Jobs) || data.Unit < 1 {
		return proof{}, refuted("%d sizes in units of 1/%d for %d jobs", len(data.Sizes), data.Unit, len(c.in.Jobs))
	}
	m := &machine{size: data.Sizes}
	half, alone := make([]*big.Rat, len(data.Sizes)), make([]*big.Rat, len(data.Sizes))
	for i := range c.in.Jobs {
		if size := big.NewRat(data.Sizes[i], data.Unit); data.Sizes[i] < 0 || size.Cmp(x.size(i, share)) > 0 {
			return proof{}, refuted("job %d has a size of %d/%d", i, data.Sizes[i], data.Unit)
		}
		release := new(big.Rat).Mul(x.release[i], big.NewRat(data.Unit, 1))
		if !release.IsInt() {
			return proof{}, tooHard("the units of the machine's time are too long")
		}
		m.release = append(m.release, small(release.Num()))
		half[i] = new(big.Rat).Mul(x.shortest[i], big.NewRat(1, 2))
		alone[i] = x.alone(c, i)
	}
	return x.state(c, d, d.meanBusy(c.in, m, data.Unit, half, alone)), nil
}

// mix returns λ_r/C_r by resource.
func (c *Checker) mix(text []string) ([]*big.Rat, error) {
	if len(text) != len(c.in.Elastic.Resources) {
		return nil, refuted("a mix of %d resources of %d", len(text), len(c.in.Elastic.Resources))
	}
	total := new(big.Rat)
	var out []*big.Rat
	for r, t := range text {
		v, ok := new(big.Rat).SetString(t)
		if !ok || v.Sign() < 0 {
			return nil, refuted("the share of resource %d is %q", r, t)
		}
		total.Add(total, v)
		capacity := new(big.Rat)
		for h := range c.in.Cluster.Servers {
			capacity.Add(capacity, big.NewRat(c.in.Cluster.Servers[h].Capacity[r], 1))
		}
		if capacity.Sign() == 0 {
			if v.Sign() > 0 {
				return nil, refuted("no server has resource %d", r)
			}
			capacity.SetInt64(1)
		}
		out = append(out, v.Quo(v, capacity))
	}
	if total.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, refuted("the shares of the resources add up to %s", total.RatString())
	}
	return out, nil
}

// size returns p_j.
func (x *elastic) size(i int, share []*big.Rat) *big.Rat {
	var least *big.Rat
	for _, list := range x.volume[i] {
		sum := new(big.Rat)
		for r, v := range list {
			sum.Add(sum, new(big.Rat).Mul(share[r], v))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	return least
}

// undominated leaves of the configurations of one kind those for which fewer
// workers need more slots, with their slots. Fewer workers fit wherever more do.
func (c *Checker) undominated(j *sched.Job) []slottedConfig {
	var out []slottedConfig
	for _, k := range c.configs(j) {
		slots := roundUp(new(big.Rat).Quo(k.work, rational(c.in.Slot))).Num()
		if slots.Cmp(big.NewInt(int64(sched.MaxTime/c.in.Slot))) > 0 {
			continue
		}
		x := slottedConfig{k, small(slots)}
		if !slices.ContainsFunc(out, func(o slottedConfig) bool {
			return o.m == x.m && o.p == x.p && o.one == x.one && o.n <= x.n && o.slots <= x.slots
		}) {
			out = append(out, x)
		}
	}
	return out
}

// slottedConfig is a configuration with how many slots it takes.
type slottedConfig struct {
	config
	slots int64
}
