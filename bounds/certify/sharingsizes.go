package certify

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Bounds for schedules that share GPUs, docs/sharing.md section 3. Let w_j be the
// time that job j needs alone with its fastest accumulation that fits a GPU, ρ_j
// the speed relative to that, and size_j/whole what the job takes of a machine. If
// alpha_j = (size_j/whole)·G/(g_j w_j) is at most 1, and alpha_j ρ_j + alpha_k ρ_k ≤ 1
// for any two jobs with accumulations that fit a GPU together, then every sharing
// schedule is one of that machine.

// sharer is a job of the sharing model.
type sharer struct {
	task    int
	gang    int64
	work    *big.Rat // w_j in microseconds
	options []option
	kind    int // jobs of one kind have the same task and options
}

// option is an accumulation that fits a GPU.
type option struct {
	speed  *big.Rat // of the fastest one's
	memory int64
	row    int // of the table of interference
}

// sharers returns the jobs and the memory of the largest GPU.
func (c *Checker) sharers() ([]sharer, int64, error) {
	if c.in.Model != sched.ModelSharing {
		return nil, 0, refuted("it is about jobs that share GPUs, not the %s model", c.in.Model)
	}
	memory := int64(0)
	for _, s := range c.in.Cluster.Servers {
		if s.GPUs > 0 {
			memory = max(memory, int64(s.GPUMemory))
		}
	}
	var out []sharer
	kinds := map[string]int{}
	for i := range c.in.Jobs {
		j := &c.in.Jobs[i]
		s := sharer{task: j.Sharing.Task, gang: int64(j.Gang())}
		fastest := int64(0)
		for _, a := range j.Sharing.Accumulation {
			if int64(a.Memory) <= memory && (fastest == 0 || int64(a.Iter) < fastest) {
				fastest = int64(a.Iter)
			}
		}
		if fastest == 0 {
			return nil, 0, refuted("job %d fits no GPU", i)
		}
		key := fmt.Sprint(s.task)
		for k, a := range j.Sharing.Accumulation {
			if int64(a.Memory) <= memory {
				row := s.task
				if len(j.Sharing.Rows) > 0 {
					row = j.Sharing.Rows[k]
				}
				s.options = append(s.options, option{big.NewRat(fastest, int64(a.Iter)), int64(a.Memory), row})
				key += fmt.Sprint(" ", a.Iter, a.Memory, row)
			}
		}
		s.work = big.NewRat(fastest, 1000)
		s.work.Mul(s.work, big.NewRat(j.Iters, 1))
		if s.work.Cmp(rational(sched.MaxTime)) > 0 {
			return nil, 0, tooHard("job %d would run for more than %v", i, sched.MaxTime)
		}
		if _, ok := kinds[key]; !ok {
			kinds[key] = len(kinds)
		}
		s.kind = kinds[key]
		out = append(out, s)
	}
	return out, memory, nil
}

// meeting is how fast two jobs go on a GPU.
type meeting struct{ first, second *big.Rat }

// meetings returns one for every two accumulations that fit a GPU together.
func (c *Checker) meetings(a, b *sharer, memory int64) []meeting {
	var out []meeting
	for _, x := range a.options {
		for _, y := range b.options {
			if x.memory <= sub(memory, y.memory) {
				slowA, slowB := new(big.Rat).SetFloat64(c.in.Interference[x.row][y.row]), new(big.Rat).SetFloat64(c.in.Interference[y.row][x.row])
				out = append(out, meeting{slowA.Quo(x.speed, slowA), slowB.Quo(y.speed, slowB)})
			}
		}
	}
	return out
}

// sharingData are the sizes of the jobs on the machine.
type sharingData struct {
	Rule  string  `json:"rule"`  // alone, srpt, srpt-ranked, mean-busy-time or area
	Whole int64   `json:"whole"` // units of the machine's time in a microsecond
	Sizes []int64 `json:"sizes"` // in units; 0: the job is apart
}

func (c *Checker) sharing(d *document) (proof, error) {
	var data sharingData
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	jobs, memory, err := c.sharers()
	if err != nil {
		return proof{}, err
	}
	f := &fluid{class: sched.Class{Kind: sched.SP0}, whole: data.Whole, apart: make([]bool, len(jobs))}
	for i := range jobs {
		length := small(roundUp(jobs[i].work).Num())
		f.jobs = append(f.jobs, job{c.in.Jobs[i].Release, sched.Time(length), jobs[i].gang})
	}
	if data.Rule != "alone" {
		if err := c.checkSizes(&data, jobs, memory); err != nil {
			return proof{}, err
		}
	}
	work := make([]*big.Rat, len(jobs))
	for i := range jobs {
		work[i] = jobs[i].work
	}
	return c.bySizes(d, f, &data, work)
}

// bySizes evaluates the rule on a machine whose sizes have been checked. work is
// the least time of each job, not rounded up, and f.jobs have it rounded up.
func (c *Checker) bySizes(d *document, f *fluid, data *sharingData, work []*big.Rat) (proof, error) {
	if data.Rule == "alone" {
		return c.apart(d, f)
	}
	for i := range f.jobs {
		release := new(big.Int).Mul(integer(c.in.Jobs[i].Release), big.NewInt(data.Whole))
		f.machine.release = append(f.machine.release, small(release))
		f.machine.size = append(f.machine.size, data.Sizes[i])
		f.apart[i] = data.Sizes[i] == 0
	}
	switch data.Rule {
	case "srpt":
		return c.rankAll(d, f, func(f *fluid, end, alone *big.Int) *big.Int { return end })
	case "srpt-ranked":
		return c.rankAll(d, f, laterOf)
	case "mean-busy-time":
		return c.exactHalves(d, f, work)
	case "area":
		return c.area(d, f)
	}
	return proof{}, refuted("rule %q is unknown", data.Rule)
}

// checkSizes checks the conditions on alpha, kind by kind, with the largest alpha
// of each.
func (c *Checker) checkSizes(data *sharingData, jobs []sharer, memory int64) error {
	if data.Whole < 1 || len(data.Sizes) != len(jobs) {
		return refuted("%d sizes in units of 1/%d for %d jobs", len(data.Sizes), data.Whole, len(jobs))
	}
	var example []int // of each kind
	var count []int
	var alpha []*big.Rat
	gpus := int64(c.in.Cluster.GPUs())
	for i := range jobs {
		j := &jobs[i]
		if data.Sizes[i] < 0 {
			return refuted("job %d has size %d", i, data.Sizes[i])
		}
		a := big.NewRat(data.Sizes[i], data.Whole)
		a.Mul(a, big.NewRat(gpus, j.gang)).Quo(a, j.work)
		if j.kind == len(example) {
			example, count, alpha = append(example, i), append(count, 0), append(alpha, a)
		}
		count[j.kind]++
		if a.Cmp(alpha[j.kind]) > 0 {
			alpha[j.kind] = a
		}
	}
	one := big.NewRat(1, 1)
	for a := range example {
		if alpha[a].Cmp(one) > 0 {
			return refuted("job %d counts for more than its GPUs", example[a])
		}
		for b := range a + 1 {
			if a == b && count[a] == 1 {
				continue
			}
			for _, m := range c.meetings(&jobs[example[a]], &jobs[example[b]], memory) {
				sum := m.first.Mul(m.first, alpha[a])
				if sum.Add(sum, m.second.Mul(m.second, alpha[b])).Cmp(one) > 0 {
					return refuted("jobs %d and %d together count for more than a GPU", example[a], example[b])
				}
			}
		}
	}
	return nil
}

// apart is the cost of all jobs alone.
func (c *Checker) apart(d *document, f *fluid) (proof, error) {
	if d.Objective == sched.Makespan {
		last := sched.Time(0)
		for _, j := range f.jobs {
			last = max(last, j.end())
		}
		return lower(f.class, rational(last)), nil
	}
	if err := d.totals(); err != nil {
		return proof{}, err
	}
	sum := new(big.Rat)
	for i, j := range f.jobs {
		sum.Add(sum, weighted(d.weight(&c.in.Jobs[i]), j.end()))
	}
	return lower(f.class, d.restate(c.in, sum)), nil
}

// exactHalves is mean-busy-time with half-terms w_j/2, not rounded up, as a job may
// be done within a microsecond.
func (c *Checker) exactHalves(d *document, f *fluid, work []*big.Rat) (proof, error) {
	if err := d.totals(); err != nil {
		return proof{}, err
	}
	half, alone := make([]*big.Rat, len(work)), make([]*big.Rat, len(work))
	for i := range work {
		half[i] = new(big.Rat).Mul(work[i], big.NewRat(1, 2))
		alone[i] = rational(f.jobs[i].end())
	}
	return lower(f.class, d.restate(c.in, d.meanBusy(c.in, &f.machine, f.whole, half, alone))), nil
}

// area bounds the makespan by when the machine has done what is released from some
// time on.
func (c *Checker) area(d *document, f *fluid) (proof, error) {
	if d.Objective != sched.Makespan {
		return proof{}, refuted("it bounds the makespan, not %v", d.Objective)
	}
	order := make([]int, len(f.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return sign(f.machine.release[b], f.machine.release[a]) })
	work, best := new(big.Int), new(big.Int)
	for _, i := range order {
		work.Add(work, big.NewInt(f.machine.size[i]))
		if end := new(big.Int).Add(work, big.NewInt(f.machine.release[i])); end.Cmp(best) > 0 {
			best = end
		}
	}
	return lower(f.class, roundUp(new(big.Rat).SetFrac(best, big.NewInt(f.whole)))), nil
}
