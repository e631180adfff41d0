package theorems

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// Job holds the numbers of one job. Times per iteration are in microseconds.
type Job struct {
	Release   sched.Time // r
	Gang      int        // g
	Iters     int64      // n
	Predicted int64      // ñ

	AlphaMin   *big.Rat // no schedule holds the job's GPUs for less than n times it
	AlphaTilde *big.Rat // the policy's estimate alpha~
	AlphaMax   *big.Rat // no schedule of the policy holds them for more than n times it

	Start, Completion sched.Time // under A-SRPT
}

// held is how long the job held its GPUs.
func (j *Job) held() sched.Time { return j.Completion - j.Start }

// longest returns n·alpha_max.
func (j *Job) longest() *big.Rat { return product(big.NewRat(j.Iters, 1), j.AlphaMax) }

// virtualSize returns g·n·alpha~/G for the given number of iterations.
func (j *Job) virtualSize(iters int64, gpus int) *big.Rat {
	return product(big.NewRat(int64(j.Gang), int64(gpus)), big.NewRat(iters, 1), j.AlphaTilde)
}

// Case is one run of A-SRPT in numbers.
type Case struct {
	GPUs int      // G
	Tau  *big.Rat // how long a job may wait for a better placement, in virtual sizes
	Jobs []Job

	// ReleaseFirst breaks ties on the virtual machine by release and then by
	// index, instead of by index.
	ReleaseFirst bool
	Slotted      bool     // decisions fell on slot boundaries
	Sliced       bool     // some job has tensor slices that must share a server
	Loads        bool     // some job loads, and its alphas contain that
	AlphaMinOpen bool     // some AlphaMin is a lower bound that may not be attained
	Optimum      Interval // of OPT_A
}

// Symbols are the paper's symbols on one run, and those of the sharp forms.
// Times are in microseconds.
type Symbols struct {
	GPUs    int // G
	Jobs    int // I
	Widest  int // g_max
	Divisor int // b: the greatest common divisor of all gangs and G

	Tau      *big.Rat
	Rho      *big.Rat // max alpha_max/alpha_min
	RhoMost  *big.Rat // max alpha_max/alpha~
	RhoLeast *big.Rat // max alpha~/alpha_min, at least 1
	AlphaMax *big.Rat // over all jobs
	AlphaMin *big.Rat // over all jobs

	Error *big.Rat // eps = Σ|n − ñ|, in iterations
	Over  *big.Rat // Σ g·(ñ − n)·alpha~/G over the jobs with ñ > n
	Under *big.Rat // Σ g·(n − ñ)·alpha~/G over the jobs with ñ < n
	Late  *big.Rat // Σ g·(n − ñ)·alpha_max over the jobs with ñ < n

	Gamma   *big.Rat
	Longest *big.Rat // Σ n·alpha_max
	OptA    Interval

	Unmet []Assumption // all those that the run does not meet

	jobs    []Job
	longest []*big.Rat // n·alpha_max, by job
	*machines
}

// machines are the schedules of A1 and Ã1, which do not depend on alpha_max and
// alpha_min. Slices are by job.
type machines struct {
	OptA1      *big.Rat
	OptVirtual *big.Rat // OPT_Ã1 = Σ C^v
	Rounding   *big.Rat // Σ ceil(C^v) − C^v

	virtual []*big.Rat // C^v
	ceiling []*big.Rat // ceil(C^v)
	delay   []*big.Rat // floor(tau·q): the longest wait for a better placement
	order   []int      // jobs by C^v
}

// Symbols computes the symbols. The case is not changed.
//
// Errors: numbers that no run has, such as no jobs or a time per iteration that
// is not positive.
func (c *Case) Symbols() (*Symbols, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("theorems: %w", err)
	}
	return c.symbols(c.machines()), nil
}

func (c *Case) symbols(m *machines) *Symbols {
	s := &Symbols{GPUs: c.GPUs, Jobs: len(c.Jobs), Divisor: c.GPUs, Tau: c.Tau, OptA: c.Optimum, jobs: c.Jobs, machines: m,
		Rho: new(big.Rat), RhoMost: new(big.Rat), RhoLeast: whole(1), AlphaMax: new(big.Rat), AlphaMin: c.Jobs[0].AlphaMin,
		Error: new(big.Rat), Gamma: new(big.Rat), Longest: new(big.Rat)}
	for i := range c.Jobs {
		s.add(&c.Jobs[i])
	}
	s.addErrors(c.Jobs)
	s.Unmet = c.unmet(s)
	return s
}

func (c *Case) validate() error {
	if c.GPUs < 1 || len(c.Jobs) == 0 || c.Tau == nil || c.Tau.Sign() < 0 {
		return errors.New("a run has GPUs, jobs and a tau that is not negative")
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		for _, alpha := range []*big.Rat{j.AlphaMin, j.AlphaTilde, j.AlphaMax} {
			if alpha == nil || alpha.Sign() <= 0 {
				return fmt.Errorf("job %d: alphas %v, %v and %v: all must be positive", i, j.AlphaMin, j.AlphaTilde, j.AlphaMax)
			}
		}
		if j.Gang < 1 || j.Predicted < 0 || j.Iters < 0 {
			return fmt.Errorf("job %d: gang %d, %d iterations, %d predicted: negative, or no GPUs", i, j.Gang, j.Iters, j.Predicted)
		}
	}
	return nil
}

// add takes one job into the maxima and sums.
func (s *Symbols) add(j *Job) {
	larger := func(a, b *big.Rat) *big.Rat {
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	}
	s.Widest = max(s.Widest, j.Gang)
	s.Divisor = number.GCD(s.Divisor, j.Gang)
	s.Rho = larger(s.Rho, new(big.Rat).Quo(j.AlphaMax, j.AlphaMin))
	s.RhoMost = larger(s.RhoMost, new(big.Rat).Quo(j.AlphaMax, j.AlphaTilde))
	s.RhoLeast = larger(s.RhoLeast, new(big.Rat).Quo(j.AlphaTilde, j.AlphaMin))
	s.AlphaMax = larger(s.AlphaMax, j.AlphaMax)
	if j.AlphaMin.Cmp(s.AlphaMin) < 0 {
		s.AlphaMin = j.AlphaMin
	}
	longest := j.longest()
	s.longest = append(s.longest, longest)
	s.Gamma.Add(s.Gamma, microseconds(j.Completion))
	s.Longest.Add(s.Longest, longest)
}

// addErrors adds up what was predicted wrongly.
func (s *Symbols) addErrors(jobs []Job) {
	var over, under, late []*big.Rat
	for i := range jobs {
		j := &jobs[i]
		switch missed := j.Predicted - j.Iters; {
		case missed > 0:
			s.Error.Add(s.Error, big.NewRat(missed, 1))
			over = append(over, j.virtualSize(missed, s.GPUs))
		case missed < 0:
			s.Error.Add(s.Error, big.NewRat(-missed, 1))
			under = append(under, j.virtualSize(-missed, s.GPUs))
			late = append(late, product(whole(j.Gang), big.NewRat(-missed, 1), j.AlphaMax))
		}
	}
	s.Over, s.Under, s.Late = sum(over...), sum(under...), sum(late...)
}

// machines schedules A1 and Ã1.
func (c *Case) machines() *machines {
	before := func(a, b int) bool {
		if c.ReleaseFirst && c.Jobs[a].Release != c.Jobs[b].Release {
			return c.Jobs[a].Release < c.Jobs[b].Release
		}
		return a < b
	}
	n := len(c.Jobs)
	m := &machines{Rounding: new(big.Rat), delay: make([]*big.Rat, n), order: make([]int, n)}
	release, sizes, predicted := make([]sched.Time, n), make([]*big.Rat, n), make([]*big.Rat, n)
	for i := range c.Jobs {
		j := &c.Jobs[i]
		release[i] = j.Release
		sizes[i], predicted[i] = j.virtualSize(j.Iters, c.GPUs), j.virtualSize(j.Predicted, c.GPUs)
		m.delay[i] = number.Floor(product(c.Tau, predicted[i]))
		m.order[i] = i
	}
	m.OptA1 = sum(SRPT(release, sizes, before)...)
	m.virtual = SRPT(release, predicted, before)
	m.OptVirtual = sum(m.virtual...)
	for _, v := range m.virtual {
		up := number.Ceil(v)
		m.ceiling = append(m.ceiling, up)
		m.Rounding.Add(m.Rounding, new(big.Rat).Sub(up, v))
	}
	slices.SortFunc(m.order, func(a, b int) int {
		if byTime := m.virtual[a].Cmp(m.virtual[b]); byTime != 0 {
			return byTime
		}
		if before(a, b) {
			return -1
		}
		return 1
	})
	return m
}

// unmet lists what the run does not meet, in the order of the constants.
func (c *Case) unmet(s *Symbols) []Assumption {
	lacking := map[Assumption]bool{Continuous: c.Slotted, WholeGPUs: c.Sliced, NoLoads: c.Loads, ExactAlphaMin: c.AlphaMinOpen}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		held := microseconds(j.held())
		lacking[Releases] = lacking[Releases] || j.Release < 0
		lacking[Iterations] = lacking[Iterations] || j.Iters < 1
		lacking[Gangs] = lacking[Gangs] || j.Gang > c.GPUs
		lacking[Alphas] = lacking[Alphas] || j.AlphaMin.Cmp(j.AlphaTilde) > 0 || j.AlphaTilde.Cmp(j.AlphaMax) > 0
		lacking[RunningTimes] = lacking[RunningTimes] || held.Cmp(s.longest[i]) > 0 || held.Cmp(product(big.NewRat(j.Iters, 1), j.AlphaMin)) < 0
	}
	for k, i := range s.order {
		early := microseconds(c.Jobs[i].Start).Cmp(s.virtual[i]) < 0
		overtakes := k > 0 && c.Jobs[i].Start < c.Jobs[s.order[k-1]].Start
		lacking[QueueOrder] = lacking[QueueOrder] || early || overtakes
	}
	var list []Assumption
	for _, a := range []Assumption{Continuous, WholeGPUs, Releases, Iterations, Gangs, Alphas, RunningTimes, QueueOrder, NoLoads, ExactAlphaMin} {
		if lacking[a] {
			list = append(list, a)
		}
	}
	return list
}

// lacks returns which of the needs are unmet.
func (s *Symbols) lacks(needs []Assumption) []Assumption {
	var list []Assumption
	for _, a := range s.Unmet {
		if slices.Contains(needs, a) {
			list = append(list, a)
		}
	}
	return list
}

// optimum returns what is proven about OPT_A; Gamma, the cost of a schedule, is
// an upper bound.
func (s *Symbols) optimum() (lower, upper *big.Rat) {
	lower, upper = s.OptA.Lower, s.OptA.Upper
	if lower == nil {
		lower = new(big.Rat)
	}
	if upper == nil || upper.Cmp(s.Gamma) > 0 {
		upper = s.Gamma
	}
	return lower, upper
}

// gap returns G − g_max + add.
func (s *Symbols) gap(add int) int { return s.GPUs - s.Widest + add }
