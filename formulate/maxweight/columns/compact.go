package columns

import (
	"fmt"
	"math"

	"yardstick/formulate"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Compact returns the integer program that places workers by variables:
//
//	x_ct ∈ {0,1}: the job runs in configuration c from slot t on
//	one server hosts all (q = 1):  k_h ∈ {0,1}: server h does;  Σ_h k_h = x
//	otherwise:  y_h workers and s_h parameter servers on server h, whole numbers;
//	n_h ∈ {0,1}: server h hosts the parameter servers
//	            Σ_h y_h = N x,  Σ_h n_h = x,  n_h ≤ s_h ≤ S n_h,
//	            B s_h + b y_h ≥ b N n_h        with S = max(1, ⌈bN/B⌉)
//	Σ_ct x_ct = 1, or ≤ 1                                            each job
//	Σ (e^r y_h + z^r s_h) + Σ (N e^r + z^r) k_h ≤ C_h^r              each server, resource and slot,
//
// all but x for each job, configuration and start, and the last sum over those
// under way. y_h, n_h and s_h exist where the containers fit an empty server,
// as many as do. In a ring there are neither n nor s.
//
// Relation, units and errors are those of Listed.
func (p *Problem) Compact(scale int64, constant float64) (*formulate.Program, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	c := &compact{writer: p.writer("compact", scale, constant), m: p.master(false)}
	c.rows, _ = c.m.Rows(c.m.Root())
	for id := range p.Terms {
		for i := range p.Model.Configs[id] {
			if err := c.config(sched.JobID(id), i); err != nil {
				return nil, err
			}
		}
	}
	c.model.Rows = append(c.rows, c.model.Rows...)
	return c.program(c.decode), nil
}

// compact is a program in the making.
type compact struct {
	*writer
	m       *master
	rows    []milp.Row // those of the master program
	options []option
}

// option is a configuration at a start. Its variables are by server, −1 where
// there is none.
type option struct {
	job    sched.JobID
	choice pricing.Choice
	x      int
	y      []int // or k
	n, s   []int
}

// config adds a configuration at all starts.
func (c *compact) config(id sched.JobID, i int) error {
	in, config := c.p.Model.In, c.p.Model.Configs[id][i]
	for start := in.FirstSlot(id); start+config.Slots <= c.p.Terms[id].Latest; start++ {
		o := option{job: id, choice: pricing.Choice{ElasticConfig: config, Config: i, Start: start, Host: -1}}
		name := fmt.Sprintf("%d_%d_%d", id, i, start)
		o.x = c.choose(id, &o.choice, "x"+name)
		c.enter(c.m.capacities()+int(id), o.x, 1)
		if config.OneServer {
			c.together(&o, name)
		} else {
			c.spread(&o, name)
		}
		c.options = append(c.options, o)
		if len(c.model.Vars) > maxColumns || len(c.model.Vars)*int(config.Slots) > maxNonzeros {
			return fmt.Errorf("columns: %w: instance %q: too large for an integer program", sched.ErrNotApplicable, in.Name)
		}
	}
	return nil
}

// enter adds an entry to a row of the master program.
func (c *compact) enter(row, col int, v float64) {
	r := &c.rows[row]
	r.Cols, r.Vals = append(r.Cols, col), append(r.Vals, v)
}

// use enters what a unit of a variable takes of a server while the option runs.
func (c *compact) use(o *option, h, col int, amount func(r int) int64) {
	for r := range c.p.Model.In.Elastic.Resources {
		if v := amount(r); v > 0 {
			for t := o.choice.Start; t < o.choice.End(); t++ {
				c.enter(c.m.row(c.m.group[h], r)+int(t), col, float64(v))
			}
		}
	}
}

// fits returns how many containers an empty server holds beside g workers.
func (c *compact) fits(o *option, h, g int, demand []int64) int64 {
	n := int64(math.MaxInt64)
	worker := c.p.Model.In.Elastic.Workers[o.choice.WorkerType].Demand
	for r, v := range demand {
		if v > 0 {
			n = min(n, (c.p.Model.In.Cluster.Servers[h].Capacity[r]-int64(g)*worker[r])/v)
		}
	}
	return max(0, n)
}

// demands returns e and z; z is nil in a ring.
func (c *compact) demands(o *option) (e, z []int64) {
	t := c.p.Model.In.Elastic
	if !c.p.Model.In.Jobs[o.job].Elastic.Ring {
		z = t.Servers[o.choice.ServerType].Demand
	}
	return t.Workers[o.choice.WorkerType].Demand, z
}

func (c *compact) together(o *option, name string) {
	e, z := c.demands(o)
	n := o.choice.ElasticConfig.Workers
	one := milp.Row{Name: "k" + name, Cols: []int{o.x}, Vals: []float64{-1}, Sense: milp.EQ}
	for h := range c.p.Model.In.Cluster.Servers {
		k := -1
		if c.fits(o, h, 0, e) >= int64(n) && (z == nil || c.fits(o, h, n, z) >= 1) {
			k = c.model.AddVar(milp.Variable{Name: fmt.Sprintf("k%s_%d", name, h), Upper: 1, Integer: true})
			one.Cols, one.Vals = append(one.Cols, k), append(one.Vals, 1)
			c.use(o, h, k, func(r int) int64 {
				if z == nil {
					return int64(n) * e[r]
				}
				return int64(n)*e[r] + z[r]
			})
		}
		o.y = append(o.y, k)
	}
	c.model.AddRow(one)
}

func (c *compact) spread(o *option, name string) {
	e, z := c.demands(o)
	n := o.choice.ElasticConfig.Workers
	workers := milp.Row{Name: "y" + name, Cols: []int{o.x}, Vals: []float64{-float64(n)}, Sense: milp.EQ}
	for h := range c.p.Model.In.Cluster.Servers {
		y := -1
		if most := min(int64(n), c.fits(o, h, 0, e)); most > 0 {
			y = c.model.AddVar(milp.Variable{Name: fmt.Sprintf("y%s_%d", name, h), Upper: float64(most), Integer: true})
			workers.Cols, workers.Vals = append(workers.Cols, y), append(workers.Vals, 1)
			c.use(o, h, y, func(r int) int64 { return e[r] })
		}
		o.y = append(o.y, y)
	}
	c.model.AddRow(workers)
	if z != nil {
		c.hosts(o, name, z)
	}
}

// hosts adds n_h and s_h.
func (c *compact) hosts(o *option, name string, z []int64) {
	in := c.p.Model.In
	n := o.choice.ElasticConfig.Workers
	b := float64(in.Elastic.Workers[o.choice.WorkerType].Demand[in.Elastic.Bandwidth])
	most := int64(in.ParameterServers(o.choice.WorkerType, o.choice.ServerType, n))
	one := milp.Row{Name: "n" + name, Cols: []int{o.x}, Vals: []float64{-1}, Sense: milp.EQ}
	for h := range in.Cluster.Servers {
		host, s := -1, -1
		if upper := min(most, c.fits(o, h, 0, z)); upper > 0 {
			at := fmt.Sprintf("%s_%d", name, h)
			host = c.model.AddVar(milp.Variable{Name: "n" + at, Upper: 1, Integer: true})
			s = c.model.AddVar(milp.Variable{Name: "s" + at, Upper: float64(upper), Integer: true})
			one.Cols, one.Vals = append(one.Cols, host), append(one.Vals, 1)
			c.use(o, h, s, func(r int) int64 { return z[r] })
			c.model.AddRow(milp.Row{Name: "least" + at, Cols: []int{s, host}, Vals: []float64{1, -1}, Sense: milp.GE})
			c.model.AddRow(milp.Row{Name: "most" + at, Cols: []int{s, host}, Vals: []float64{1, -float64(upper)}, Sense: milp.LE})
			flow := milp.Row{Name: "flow" + at, Cols: []int{s, host}, Vals: []float64{float64(z[in.Elastic.Bandwidth]), -b * float64(n)}, Sense: milp.GE}
			if o.y[h] >= 0 {
				flow.Cols, flow.Vals = append(flow.Cols, o.y[h]), append(flow.Vals, b)
			}
			c.model.AddRow(flow)
		}
		o.n, o.s = append(o.n, host), append(o.s, s)
	}
	c.model.AddRow(one)
}

// decode reads the options chosen.
func (c *compact) decode(x []float64) ([]*pricing.Choice, error) {
	out := make([]*pricing.Choice, len(c.p.Terms))
	value := func(j int) int {
		if j < 0 {
			return 0
		}
		return int(math.Round(x[j]))
	}
	for i := range c.options {
		o := &c.options[i]
		if value(o.x) == 0 {
			continue
		}
		if out[o.job] != nil {
			return nil, fmt.Errorf("columns: the point has two schedules of job %d", o.job)
		}
		choice := o.choice
		total := 0
		for h := range o.y {
			y := value(o.y[h])
			hosts := !choice.OneServer && o.n != nil && value(o.n[h]) == 1
			if choice.OneServer {
				hosts = y == 1
				y *= choice.ElasticConfig.Workers
			}
			choice.Workers = append(choice.Workers, y)
			total += y
			if hosts && !c.p.Model.In.Jobs[o.job].Elastic.Ring {
				choice.Host = h
				choice.Servers = c.p.Model.In.ParameterServers(choice.WorkerType, choice.ServerType, choice.ElasticConfig.Workers-y)
			}
		}
		if total != choice.ElasticConfig.Workers || choice.Host < 0 != c.p.Model.In.Jobs[o.job].Elastic.Ring {
			return nil, fmt.Errorf("columns: the point places %d of the %d workers of job %d", total, choice.ElasticConfig.Workers, o.job)
		}
		out[o.job] = &choice
	}
	return out, nil
}
