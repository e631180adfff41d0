package certify

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// job is what bounds for exclusive gangs know of a job.
type job struct {
	release sched.Time
	length  sched.Time // d_j: load, and a lower bound on the training time on any placement
	gang    int64
}

// end returns r_j + d_j.
func (j *job) end() sched.Time { return add(j.release, j.length) }

// claim states that a job trains for at least so many microseconds wherever it
// is placed. Claims are needed of jobs with several stages that fit no server.
type claim struct {
	Job  int   `json:"job"`
	Time int64 `json:"time"`
}

// gangTotals reads the data of a bound on a total of exclusive gangs, and returns its
// jobs; least is what the data claim of them.
func (c *Checker) gangTotals(d *document, data any, least *[]claim) ([]job, error) {
	if err := d.totals(); err != nil {
		return nil, err
	}
	if err := d.read(data); err != nil {
		return nil, err
	}
	return c.gangs(*least)
}

// gangs returns the jobs of an instance of exclusive gangs. Each d_j is the
// load plus the least training time, which is computed here, or claimed and then
// proven, or, without a claim, what the stages take with all of their
// neighbours beside them.
func (c *Checker) gangs(claims []claim) ([]job, error) {
	if !c.exclusive() {
		return nil, refuted("it is about exclusive gangs, not the %s model", c.in.Model)
	}
	if c.jobs == nil {
		c.times = newTimes(c.in)
		var jobs []job
		for i := range c.in.Jobs {
			j := &c.in.Jobs[i]
			jobs = append(jobs, job{j.Release, add(j.Load, c.times.least(j)), int64(j.Gang())})
		}
		c.jobs = jobs // all of them, or none
	}
	for _, m := range claims {
		switch {
		case m.Job < 0 || m.Job >= len(c.jobs):
			return nil, refuted("there is no job %d", m.Job)
		case m.Time < 0 || sched.Time(m.Time) > sched.MaxTime:
			return nil, refuted("job %d is said to train for %d µs", m.Job, m.Time)
		}
	}
	// Those that say most of an iteration first: they prove the others of their kind.
	claims = slices.Clone(claims)
	says := func(m claim) float64 { return (float64(m.Time) - 1) / float64(c.in.Jobs[m.Job].Iters) }
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(says(b), says(a)) })
	out := slices.Clone(c.jobs)
	for _, m := range claims {
		j := &c.in.Jobs[m.Job]
		d := add(j.Load, sched.Time(m.Time))
		if d <= out[m.Job].length {
			continue
		}
		if err := c.times.atLeast(j, m.Time); err != nil {
			return nil, fmt.Errorf("job %d is said to train for at least %d µs: %w", m.Job, m.Time, err)
		}
		out[m.Job].length = d
	}
	for i, j := range out {
		if j.length > sched.MaxTime {
			return nil, tooHard("job %d would run for more than %v", i, sched.MaxTime)
		}
	}
	return out, nil
}

// times finds least training times.
type times struct {
	in    *sched.Instance
	sizes []size // of servers, largest first
	known map[string]*big.Rat
	parts map[string]*parts

	longer map[string]*big.Rat // what an iteration has been proven to take more than, in seconds
}

// size is how many servers have so many GPUs.
type size struct{ gpus, count int }

func newTimes(in *sched.Instance) *times {
	t := &times{in: in, known: map[string]*big.Rat{}, parts: map[string]*parts{}, longer: map[string]*big.Rat{}}
	for _, s := range in.Cluster.Servers {
		k := slices.IndexFunc(t.sizes, func(z size) bool { return z.gpus == s.GPUs })
		switch {
		case s.GPUs == 0:
		case k < 0:
			t.sizes = append(t.sizes, size{s.GPUs, 1})
		default:
			t.sizes[k].count++
		}
	}
	slices.SortFunc(t.sizes, func(a, b size) int { return cmp.Compare(b.gpus, a.gpus) })
	return t
}

// plain reports whether an iteration takes as long as its computation wherever
// the job runs.
func plain(j *sched.Job) bool {
	st := &j.Stages[0]
	return len(j.Stages) == 1 && (st.Replicas == 1 || st.Params == 0) && (st.Slices <= 1 || st.SliceSync == 0)
}

// least returns the least training time, or a lower bound on that of a job of
// several stages that fits no server: for that it is a question of which replicas
// to put together.
func (t *times) least(j *sched.Job) sched.Time {
	if plain(j) {
		nanos := new(big.Int).Mul(big.NewInt(j.Iters), big.NewInt(int64(j.Stages[0].Compute)))
		return clip(roundUp(new(big.Rat).SetFrac(nanos, big.NewInt(1000))).Num())
	}
	key := kind(j)
	alpha := t.known[key]
	if alpha == nil {
		if b := stagesOf(t.in, j); len(j.Stages) == 1 && j.Gang() > t.sizes[0].gpus {
			alpha = t.evenly(b)
		} else { // no term for the network card is left
			alpha = b.alpha(b.replicas, 1)
		}
		t.known[key] = alpha
	}
	return clip(runs(j.Iters, alpha))
}

// bounded reports whether least returns a lower bound that no placement may reach.
func (t *times) bounded(j *sched.Job) bool {
	return !plain(j) && len(j.Stages) > 1 && j.Gang() > t.sizes[0].gpus
}

// clip returns a time of at most just beyond MaxTime.
func clip(v *big.Int) sched.Time {
	if most := integer(sched.MaxTime + 1); v.Cmp(most) > 0 {
		v = most
	}
	return sched.Time(small(v))
}

// kind tells jobs apart that may have different times per iteration.
func kind(j *sched.Job) string {
	key := binary.AppendVarint(make([]byte, 0, 1024), int64(len(j.Stages)))
	add := func(values ...int64) {
		for _, v := range values {
			key = binary.AppendVarint(key, v)
		}
	}
	for s := range j.Stages {
		st := &j.Stages[s]
		add(int64(st.Replicas), int64(st.Slices), int64(st.Compute), int64(st.Params), int64(st.SliceSync), int64(st.Boundary))
	}
	for _, e := range j.Edges {
		add(int64(e.From), int64(e.To), int64(e.Bytes))
	}
	return string(key)
}

// evenly returns the least alpha of a single stage on several servers. With x
// replicas on a server of g GPUs it is larger the larger g/x is; so it is the least
// of these numbers for which there are servers that can hold all replicas, each
// none or enough of them.
func (t *times) evenly(b *stages) *big.Rat {
	k, width := b.replicas[0], b.width[0]
	var best *big.Rat
	type offer struct{ x, gpus int }
	var offers []offer
	for _, z := range t.sizes {
		for x := 1; x <= min(z.gpus/width, k); x++ {
			offers = append(offers, offer{x, z.gpus})
		}
	}
	slices.SortFunc(offers, func(a, b offer) int { return cmp.Compare(mul(a.gpus, b.x), mul(b.gpus, a.x)) }) // by g/x
	low, high := 0, len(offers)-1
	for low < high { // the least offer that suffices
		mid := (low + high) / 2
		if t.hold(k, width, offers[mid].x, offers[mid].gpus) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	best = b.alpha([]int{offers[low].x}, offers[low].gpus)
	return best
}

// hold reports whether some servers hold exactly k replicas, each of g GPUs at
// least g·x/gpus.
func (t *times) hold(k, width, x, gpus int) bool {
	most := make([]int, k+1) // by the least number that chosen servers hold: the largest they can
	for i := range most {
		most[i] = -1
	}
	most[0] = 0
	for _, z := range t.sizes {
		least, room := max(1, up(mul(z.gpus, x), gpus)), z.gpus/width
		if least > room {
			continue
		}
		for range min(z.count, k/least) {
			for i := k; i >= least; i-- {
				if most[i-least] >= 0 {
					most[i] = max(most[i], most[i-least]+room)
				}
			}
		}
	}
	return slices.ContainsFunc(most, func(m int) bool { return m >= k })
}
