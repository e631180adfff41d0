package certify

import (
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// The fluid bounds, docs/bounds.md sections 2 and packing in preemptive.md: every
// schedule of exclusive gangs is one of a machine on which job j takes share_j·d_j
// out of whole, where shares are such that those of jobs which run together never
// exceed whole. With share_j = g_j and whole = G that is all that fluid schedules
// (F(1)) keep; other shares need gangs that run as a whole (P0).

// shares choose the machine. Without them, it is the fluid one.
type machineShares struct {
	Whole  int64       `json:"whole"`
	Shares []gangShare `json:"shares"` // of every size of gang
}

type gangShare struct {
	Gang  int64 `json:"gang"`
	Share int64 `json:"share"`
}

// fluidData are the data of the closed bounds.
type fluidData struct {
	Machine *machineShares `json:"machine,omitempty"`
	// Apart are the jobs that are not on the machine, each by itself; those of
	// share 0 never are.
	Apart []int   `json:"apart,omitempty"`
	Least []claim `json:"least,omitempty"`
}

// fluid is a machine with the jobs on it, and those apart.
type fluid struct {
	class   sched.Class
	jobs    []job
	whole   int64
	share   []int64 // by job
	machine machine // of all jobs; size 0 of those apart
	apart   []bool
}

func (c *Checker) fluid(d *document) (*fluid, error) {
	var data fluidData
	if err := d.read(&data); err != nil {
		return nil, err
	}
	jobs, err := c.gangs(data.Least)
	if err != nil {
		return nil, err
	}
	f := &fluid{class: sched.Class{Kind: sched.Fluid}, jobs: jobs, whole: int64(c.in.Cluster.GPUs()), apart: make([]bool, len(jobs))}
	for _, j := range jobs {
		f.share = append(f.share, j.gang)
	}
	if data.Machine != nil {
		f.class.Kind = sched.P0
		if err := f.use(data.Machine, int64(c.in.Cluster.GPUs())); err != nil {
			return nil, err
		}
	}
	for _, j := range data.Apart {
		if j < 0 || j >= len(jobs) {
			return nil, refuted("there is no job %d", j)
		}
		f.apart[j] = true
	}
	const most = math.MaxInt64 / int64(sched.MaxTime) // times that fit
	for i, j := range jobs {
		f.apart[i] = f.apart[i] || f.share[i] == 0
		if max(f.share[i], f.whole) > most {
			return nil, tooHard("the machine has shares of more than %d", most)
		}
		size := int64(0)
		if !f.apart[i] {
			size = mul(f.share[i], int64(j.length))
		}
		f.machine.release = append(f.machine.release, mul(f.whole, int64(j.release)))
		f.machine.size = append(f.machine.size, size)
	}
	return f, nil
}

// use replaces the shares and checks them: whatever jobs fit the GPUs together,
// their shares must not exceed the whole.
func (f *fluid) use(m *machineShares, gpus int64) error {
	share := map[int64]int64{}
	for _, s := range m.Shares {
		if s.Share < 0 || m.Whole < 1 {
			return refuted("a share of %d of %d", s.Share, m.Whole)
		}
		share[s.Gang] = s.Share
	}
	count := map[int64]int{}
	for _, j := range f.jobs {
		if _, ok := share[j.gang]; !ok {
			return refuted("the machine has no share for gangs of %d", j.gang)
		}
		count[j.gang]++
	}
	var kinds []item
	for gang, n := range count {
		kinds = append(kinds, item{gang, share[gang], n})
	}
	if most := knapsack(kinds, gpus); most > m.Whole {
		return refuted("gangs that fit %d GPUs together have shares of %d, more than the whole of %d", gpus, most, m.Whole)
	}
	f.whole = m.Whole
	for i, j := range f.jobs {
		f.share[i] = share[j.gang]
	}
	return nil
}

// item is so many jobs of a gang, with what each counts.
type item struct {
	gang, value int64
	count       int
}

// knapsack returns the largest sum of values of jobs whose gangs fit the GPUs.
func knapsack(items []item, gpus int64) int64 {
	best := make([]int64, add(gpus, 1))
	for _, k := range items {
		if k.value <= 0 {
			continue
		}
		gang := int(k.gang)
		for range min(k.count, int(gpus)/gang) {
			for room := int(gpus); room >= gang; room-- {
				best[room] = max(best[room], add(best[room-gang], k.value))
			}
		}
	}
	return best[gpus]
}

// reachable returns G', the most GPUs that gangs can hold together.
func reachable(jobs []job, gpus int64) int64 {
	count := map[int64]int{}
	for _, j := range jobs {
		count[j.gang]++
	}
	var items []item
	for gang, n := range count {
		items = append(items, item{gang, gang, n})
	}
	return knapsack(items, gpus)
}

// alone is lb0: C_j ≥ r_j + d_j.
func (c *Checker) alone(d *document) (proof, error) {
	f, err := c.fluid(d)
	if err != nil {
		return proof{}, err
	}
	f.class.Kind = sched.Fluid // the machine plays no part
	if d.Class.Slotted && c.in.Slot > 0 && (sched.Class{Kind: d.Class.Kind}).Reaches(sched.Class{Kind: sched.P0}) {
		// Jobs start and stop at slot boundaries, so that d_j takes whole slots.
		f.class = sched.Class{Kind: sched.P0, Slotted: true}
		for i := range f.jobs {
			f.jobs[i].release, f.jobs[i].length = c.nextSlot(f.jobs[i].release), c.nextSlot(f.jobs[i].length)
		}
	}
	return c.apart(d, f)
}

func weighted(w *big.Rat, t sched.Time) *big.Rat { return new(big.Rat).Mul(w, rational(t)) }

// shortest is srpt: with equal weights, the total completion time of shortest
// remaining processing time first on the machine (Schrage 1968).
func (c *Checker) shortest(d *document) (proof, error) {
	return c.ranks(d, func(f *fluid, end, alone *big.Int) *big.Int { return end })
}

// ranked is srpt-ranked: Σ_k max(k-th r_j + d_j, k-th completion of that).
func (c *Checker) ranked(d *document) (proof, error) { return c.ranks(d, laterOf) }

// laterOf returns the later of a completion on the machine, rounded up to a
// microsecond, and a time, in units of 1/whole.
func laterOf(f *fluid, end, alone *big.Int) *big.Int {
	up := new(big.Int).Add(end, big.NewInt(sub(f.whole, 1)))
	up.Quo(up, big.NewInt(f.whole))
	if up.Cmp(alone) < 0 {
		up.Set(alone)
	}
	return up.Mul(up, big.NewInt(f.whole))
}

func (c *Checker) ranks(d *document, rank func(f *fluid, end, alone *big.Int) *big.Int) (proof, error) {
	f, err := c.fluid(d)
	if err != nil {
		return proof{}, err
	}
	return c.rankAll(d, f, rank)
}

// rankAll adds up, over the jobs on the machine, what rank makes of the k-th
// completion on it, in units of 1/whole, and the k-th r_j + d_j; and r_j + d_j of
// the jobs apart.
func (c *Checker) rankAll(d *document, f *fluid, rank func(f *fluid, end, alone *big.Int) *big.Int) (proof, error) {
	if err := d.totals(); err != nil {
		return proof{}, err
	}
	weight, ok := d.equalWeight(c.in)
	if !ok {
		return proof{}, refuted("the weights of the jobs differ")
	}
	var alone []sched.Time
	sum, units := new(big.Int), new(big.Int)
	for i, j := range f.jobs {
		if f.apart[i] {
			sum.Add(sum, integer(j.end()))
		} else {
			alone = append(alone, j.end())
		}
	}
	slices.Sort(alone)
	for k, end := range f.machine.completions() {
		units.Add(units, rank(f, end, integer(alone[k])))
	}
	total := new(big.Rat).SetFrac(units, big.NewInt(f.whole))
	total = roundUp(total.Add(total, new(big.Rat).SetInt(sum))) // as all completion times are integers
	return lower(f.class, d.restate(c.in, total.Mul(total, weight))), nil
}

// busy is mean-busy-time: Σ w_j (M_j + d_j/2), with M_j the mean time at which the
// machine serves job j if the largest w_j per size goes first (Goemans 1997).
func (c *Checker) busy(d *document) (proof, error) {
	if err := d.totals(); err != nil {
		return proof{}, err
	}
	f, err := c.fluid(d)
	if err != nil {
		return proof{}, err
	}
	half := make([]*big.Rat, len(f.jobs))
	alone := make([]*big.Rat, len(f.jobs))
	for i, j := range f.jobs {
		half[i], alone[i] = big.NewRat(int64(j.length), 2), rational(j.end())
	}
	return lower(f.class, d.restate(c.in, d.meanBusy(c.in, &f.machine, f.whole, half, alone))), nil
}

// meanBusy returns Σ w_j (M_j + half_j) over the jobs on the machine, whose time
// is in units of 1/whole, and Σ w_j alone_j over the others. Each mean is rounded
// down to a multiple of 2^-64.
func (d *document) meanBusy(in *sched.Instance, m *machine, whole int64, half, alone []*big.Rat) *big.Rat {
	weight := make([]*big.Rat, len(half))
	for i := range weight {
		weight[i] = d.weight(&in.Jobs[i])
	}
	m.key = bySmith(weight, m.size)
	sum := new(big.Rat)
	units := new(big.Int) // of 2^-64, of jobs of weight 1
	one := big.NewRat(1, 1)
	for i, twice := range m.moments() {
		if m.size[i] == 0 {
			sum.Add(sum, new(big.Rat).Mul(weight[i], alone[i]))
			continue
		}
		den := new(big.Int).Mul(big.NewInt(m.size[i]), big.NewInt(whole))
		den.Lsh(den, 1)
		mean := twice.Lsh(twice, grain)
		mean.Quo(mean, den)
		mean.Add(mean, floor(half[i], grain))
		if weight[i].Cmp(one) == 0 {
			units.Add(units, mean)
		} else {
			sum.Add(sum, new(big.Rat).Mul(weight[i], scaled(mean, grain)))
		}
	}
	return sum.Add(sum, scaled(units, grain))
}

// grain is the number of binary digits after the point that sums of fractions are
// rounded down to.
const grain = 64

// floor returns the largest integer of units 2^-bits that is at most v.
func floor(v *big.Rat, bits uint) *big.Int {
	n := new(big.Int).Lsh(v.Num(), bits)
	return n.Div(n, v.Denom()) // Euclidean: rounds towards −∞
}

// scaled returns n·2^-bits.
func scaled(n *big.Int, bits uint) *big.Rat {
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), bits))
}

// energy bounds the makespan: for every t ≤ max r_j + d_j,
// t + Σ_j share_j·max(0, r_j + d_j − max(t, r_j))/whole. Only t at releases and at
// the r_j + d_j need be looked at, as it is linear in between.
func (c *Checker) energy(d *document) (proof, error) {
	if d.Objective != sched.Makespan {
		return proof{}, refuted("it bounds the makespan, not %v", d.Objective)
	}
	f, err := c.fluid(d)
	if err != nil {
		return proof{}, err
	}
	times := []sched.Time{0}
	for _, j := range f.jobs {
		times = append(times, j.release, j.end())
	}
	slices.Sort(times)
	times = slices.Compact(times)
	byRelease, byEnd := f.sorted()
	best := new(big.Int)
	// Of the jobs released by t, those that end after it have Σ share·(end − t) left,
	// and of the others all of share·d.
	coming, left, slope := new(big.Int), new(big.Int), new(big.Int)
	for i := range f.jobs {
		coming.Add(coming, f.work(i, int64(f.jobs[i].length)))
	}
	last := sched.Time(0)
	for _, t := range times {
		left.Sub(left, new(big.Int).Mul(slope, integer(sub(t, last))))
		last = t
		for len(byRelease) > 0 && f.jobs[byRelease[0]].release <= t {
			i := byRelease[0]
			byRelease = byRelease[1:]
			w := f.work(i, int64(f.jobs[i].length))
			coming.Sub(coming, w)
			left.Add(left, w)
			slope.Add(slope, big.NewInt(f.share[i]))
		}
		for len(byEnd) > 0 && f.jobs[byEnd[0]].end() <= t {
			slope.Sub(slope, big.NewInt(f.share[byEnd[0]]))
			byEnd = byEnd[1:]
		}
		value := new(big.Int).Mul(integer(t), big.NewInt(f.whole))
		if value.Add(value, coming).Add(value, left); value.Cmp(best) > 0 {
			best = value
		}
	}
	return lower(f.class, roundUp(new(big.Rat).SetFrac(best, big.NewInt(f.whole)))), nil
}

func (f *fluid) work(i int, time int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(f.share[i]), big.NewInt(time))
}

// sorted returns the jobs by release, and by when they would end if they ran at
// once.
func (f *fluid) sorted() (byRelease, byEnd []int) {
	for i := range f.jobs {
		byRelease, byEnd = append(byRelease, i), append(byEnd, i)
	}
	end := func(i int) int64 { return int64(f.jobs[i].end()) }
	slices.SortFunc(byRelease, func(a, b int) int { return sign(int64(f.jobs[a].release), int64(f.jobs[b].release)) })
	slices.SortFunc(byEnd, func(a, b int) int { return sign(end(a), end(b)) })
	return byRelease, byEnd
}
