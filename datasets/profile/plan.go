package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// Options say what a plan is for.
type Options struct {
	GPUs   int // used exactly
	Stages int // number of stages; 0: as many as are best
	// Batch is the mini-batch of all replicas together; 0 means the profile's.
	// Times and activations scale with it.
	Batch  int
	Memory Memory
	// Bandwidth is what every replica sends and receives at; 0 means that
	// communication takes no time.
	Bandwidth sched.Bandwidth
}

// Memory says what a GPU must hold.
type Memory struct {
	Capacity sched.Bytes // per GPU; 0: not checked
	// States is how many bytes of weights, gradients and optimizer state there
	// are per byte of parameters; 0 means MixedAdam.
	States int64
	// Recompute keeps only the input of every layer and repeats the forward pass
	// of a layer before its backward pass.
	Recompute bool
}

// Values of Memory.States.
const (
	// MixedAdam: 2-byte weights and gradients, and 4-byte weights, momentum and
	// variance, for 2-byte parameters.
	MixedAdam = 8
	// SingleAdam: 4-byte weights, gradients, momentum and variance for 4-byte
	// parameters.
	SingleAdam = 4
	// Offloaded: only weights and gradients, the rest is in the host's memory.
	Offloaded = 2
)

// Plan is a cut of a model into stages.
type Plan struct {
	Stages  []sched.Stage
	First   []int          // index of the first layer of every stage
	Slowest sched.Duration // time of the slowest stage, communication included: what Solve minimises
	Memory  sched.Bytes    // that the fullest GPU holds
}

// ErrNoPlan is what Solve's error wraps if there is no plan at all.
var ErrNoPlan = errors.New("no plan")

// maxPlanGPUs bounds the tables.
const maxPlanGPUs = 1024

// Solve returns a plan whose slowest stage is as fast as possible.
//
// A plan cuts layers 1..L into S stages of consecutive layers and gives stage s
// k_s ≥ 1 replicas that share the mini-batch, Σ k_s = G. With T the time of the
// stage's layers, h their parameters, D_in and D_out the activations that cross
// the cuts before and after, and B the bandwidth, stage s takes
//
//	ceil(T/k) + ceil((2 D_in + 2 D_out + 2 (k−1) h) / (k B))   nanoseconds,
//
// which is the iteration time of package sched for replicas that all sit apart
// at bandwidth B. A replica's share is at least one sample, k_s ≤ batch, and
// what its GPU holds, States·h + kept/k, fits the capacity; all micro-batches
// are taken to be in flight at once.
//
// With A(j, m) the value of layers 1..j on m GPUs,
//
//	A(j, m) = min over 0 ≤ i < j, 1 ≤ m' ≤ m of max(A(i, m−m'), cost(i+1..j, m')).
//
// Of the plans of that value one with the fewest stages is returned.
// Cost: O(L²G²) time, S times that for a given number S of stages, O(LG(S+1))
// memory.
//
// Errors: the profile or the options are invalid; an error that wraps ErrNoPlan
// if nothing fits.
// Source: Narayanan et al., PipeDream: generalized pipeline parallelism for DNN
// training, SOSP 2019, section 3.1.
// Not in the source: the memory check, given numbers of stages, and that
// communication adds to a stage's time instead of overlapping with it, as the
// A-SRPT paper's iteration time has it.
func Solve(p *Profile, o Options) (*Plan, error) {
	s, err := newSolver(p, o)
	if err != nil {
		return nil, err
	}
	s.fill()
	plan := s.plan(o.GPUs, o.Stages)
	if plan == nil {
		return nil, fmt.Errorf("profile: %q on %d GPUs of %v in %d stages (0: any) with a mini-batch of %d: %w: too few layers, samples or bytes",
			p.Model, o.GPUs, o.Memory.Capacity, o.Stages, s.batch, ErrNoPlan)
	}
	return plan, nil
}

// unreachable is the value of a state that no plan leads to.
const unreachable = sched.Duration(math.MaxInt64)

// solver holds the tables of the dynamic program, for every number of GPUs up
// to the option's at once.
type solver struct {
	options Options
	layers  []Layer // scaled to the batch
	batch   int

	// free[m][j] is A(j, m); fixed[s][m][j] the same with exactly s stages.
	free  [][]sched.Duration
	fixed [][][]sched.Duration

	// Of the stages that end before layer j: cost[m'][i] for layers i..j−1 on m'
	// GPUs, unreachable for i < low[m'], whose stages do not fit the memory.
	cost [][]sched.Duration
	low  []int
}

func newSolver(p *Profile, o Options) (*solver, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if o.Memory.States == 0 {
		o.Memory.States = MixedAdam
	}
	switch {
	case o.GPUs < 1 || o.GPUs > maxPlanGPUs:
		return nil, fmt.Errorf("profile: a plan for %d GPUs: between 1 and %d are supported", o.GPUs, maxPlanGPUs)
	case o.Stages < 0:
		return nil, fmt.Errorf("profile: a plan of %d stages: there must be at least 1, or 0 for any number", o.Stages)
	case o.Batch < 0 || o.Batch > maxBatch || o.Bandwidth < 0 || o.Memory.Capacity < 0:
		return nil, fmt.Errorf("profile: mini-batch %d, bandwidth %v, memory %v: all must be at least 0, the first at most %d", o.Batch, o.Bandwidth, o.Memory.Capacity, maxBatch)
	case o.Memory.States < 1 || o.Memory.States > 64:
		return nil, fmt.Errorf("profile: %d bytes of state per byte of parameters: between 1 and 64 are supported", o.Memory.States)
	}
	s := &solver{options: o, batch: p.Batch}
	if o.Batch > 0 {
		s.batch = o.Batch
	}
	scaled, err := p.scale(s.batch)
	if err != nil {
		return nil, err
	}
	s.layers = scaled.Layers
	n, stages := len(s.layers), min(o.Stages, o.GPUs, len(s.layers))
	s.free = newTable(o.GPUs, n)
	for k := range stages + 1 {
		s.fixed = append(s.fixed, newTable(o.GPUs, n))
		if k > 0 {
			s.fixed[k][0][0] = unreachable // no layers are no stages
		}
	}
	s.cost = newTable(o.GPUs, n-1)
	s.low = make([]int, o.GPUs+1)
	return s, nil
}

// newTable returns a table of (gpus+1)·(layers+1) unreachable states but for
// that of no layers on no GPUs.
func newTable(gpus, layers int) [][]sched.Duration {
	t := make([][]sched.Duration, gpus+1)
	for m := range t {
		t[m] = slices.Repeat([]sched.Duration{unreachable}, layers+1)
	}
	t[0][0] = 0
	return t
}

// scale returns the profile for another mini-batch: times and activations in
// proportion, rounded up.
func (p *Profile) scale(batch int) (*Profile, error) {
	out := *p
	out.Batch = batch
	out.Layers = slices.Clone(p.Layers)
	if batch == p.Batch {
		return &out, nil
	}
	over := false
	scale := func(v int64) int64 {
		scaled, ok := mulDivUp(uint64(v), uint64(batch), uint64(p.Batch))
		over = over || !ok
		return scaled
	}
	for i := range out.Layers {
		l := &out.Layers[i]
		l.Forward = sched.Duration(scale(int64(l.Forward)))
		l.Backward = sched.Duration(scale(int64(l.Backward)))
		l.Activation = sched.Bytes(scale(int64(l.Activation)))
		l.Stored.Bytes = sched.Bytes(scale(int64(l.Stored.Bytes)))
	}
	if over {
		return nil, fmt.Errorf("profile: %q is too large with a mini-batch of %d", p.Model, batch)
	}
	return &out, out.Validate()
}

// fill computes the tables.
func (s *solver) fill() {
	for j := 1; j <= len(s.layers); j++ {
		s.stagesBefore(j)
		for m := 1; m <= s.options.GPUs; m++ {
			s.free[m][j] = s.best(s.free, m, j)
			for k := 1; k < len(s.fixed); k++ {
				s.fixed[k][m][j] = s.best(s.fixed[k-1], m, j)
			}
		}
	}
}

// best returns the least value of layers 0..j−1 on m GPUs whose last stage
// follows a state of the table.
func (s *solver) best(before [][]sched.Duration, m, j int) sched.Duration {
	best := unreachable
	for k := 1; k <= m; k++ {
		low := s.low[k]
		head, last := before[m-k][low:j], s.cost[k][low:j]
		for i, v := range head {
			if v < best {
				best = min(best, max(v, last[i]))
			}
		}
	}
	return best
}

// plan reads a plan out of the filled tables, nil if there is none.
func (s *solver) plan(gpus, stages int) *Plan {
	n := len(s.layers)
	if stages > 0 {
		if stages >= len(s.fixed) || s.fixed[stages][gpus][n] == unreachable {
			return nil
		}
		return s.trace(gpus, s.fixed[stages][gpus][n], func(left, m, i int) bool {
			return s.fixed[stages-left][m][i] <= s.fixed[stages][gpus][n]
		})
	}
	value := s.free[gpus][n]
	if value == unreachable {
		return nil
	}
	for k := 1; k < len(s.fixed); k++ {
		if s.fixed[k][gpus][n] == value {
			return s.plan(gpus, k)
		}
	}
	fewest := s.fewest(gpus, value)
	least := fewest[gpus][n]
	return s.trace(gpus, value, func(used, m, i int) bool { return fewest[m][i] == least-used })
}

// fewest returns the least number of stages that layers 0..j−1 on m GPUs need
// if no stage takes longer than the limit, by [m][j].
func (s *solver) fewest(gpus int, limit sched.Duration) [][]int {
	const none = math.MaxInt32
	t := make([][]int, gpus+1)
	for m := range t {
		t[m] = slices.Repeat([]int{none}, len(s.layers)+1)
	}
	t[0][0] = 0
	for j := 1; j <= len(s.layers); j++ {
		s.stagesBefore(j)
		for m := 1; m <= gpus; m++ {
			for k := 1; k <= m; k++ {
				for i := s.low[k]; i < j; i++ {
					if s.cost[k][i] <= limit && t[m-k][i] < t[m][j]-1 {
						t[m][j] = t[m-k][i] + 1
					}
				}
			}
		}
	}
	return t
}

// trace builds a plan from its end, taking at every step a last stage within
// the limit before which reachable says that the used stages leave a state to
// go on from.
func (s *solver) trace(gpus int, limit sched.Duration, reachable func(used, m, i int) bool) *Plan {
	p := &Plan{}
	m, j := gpus, len(s.layers)
	for used := 1; j > 0; used++ {
		s.stagesBefore(j)
		k, i := s.last(m, j, limit, func(m, i int) bool { return reachable(used, m, i) })
		p.Slowest = max(p.Slowest, s.cost[k][i])
		p.Memory = max(p.Memory, s.memory(i, j, k))
		p.Stages = append(p.Stages, s.stage(i, j, k))
		p.First = append(p.First, i)
		m, j = m-k, i
	}
	slices.Reverse(p.Stages)
	slices.Reverse(p.First)
	return p
}

func (s *solver) last(m, j int, limit sched.Duration, reachable func(m, i int) bool) (k, i int) {
	for k := 1; k <= m; k++ {
		for i := j - 1; i >= s.low[k]; i-- {
			if s.cost[k][i] <= limit && reachable(m-k, i) {
				return k, i
			}
		}
	}
	panic(fmt.Sprintf("profile: no stage ends at layer %d on %d GPUs within %v", j, m, limit))
}
