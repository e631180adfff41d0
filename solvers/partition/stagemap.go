package partition

import (
	"fmt"
	"math"

	"yardstick/sched"
)

// Limits of the dynamic program over servers.
const (
	maxStates      = 1 << 20 // Π (k_s + 1), summed over the layers kept
	maxTransitions = 1 << 27 // about a second's work
)

// mapper runs the dynamic program over servers for one job. A state is the
// vector of replicas still to place, as a mixed-radix number; f_i(r), the layer
// after i servers, is the least bottleneck rank with which i servers of
// prescribed parts can have taken K − r:
//
//	f_0(K) = 0,  f_i(r) = min over configs c with |c| = part_i of max(f_{i−1}(r + c), worst(c)).
//
// The job's alpha for the whole list of parts is f(0).
type mapper struct {
	*table
	radix   []int // weight of each stage in the state number
	states  int
	configs map[[2]int][]config // by (class, part)
	work    int
}

// config is what one server holds.
type config struct {
	counts []int // per stage
	delta  int   // as a difference of state numbers
	rank   int32
}

// layer is f_i: ranks by state, unreached states being unset, and the list of
// states reached.
type layer struct {
	rank    []int32
	reached []int
}

const unset = math.MaxInt32

func newMapper(in *sched.Instance, id sched.JobID) (*mapper, error) {
	m := &mapper{states: 1, configs: map[[2]int][]config{}}
	for _, st := range in.Jobs[id].Stages {
		m.radix = append(m.radix, m.states)
		m.states *= st.Replicas + 1
		if m.states > maxStates {
			return nil, fmt.Errorf("cuts: job %d: %w: more than %d vectors of replicas: too large to enumerate", id, sched.ErrNotApplicable, maxStates)
		}
	}
	t, err := newTable(in, id)
	m.table = t
	return m, err
}

// first returns f_0.
func (m *mapper) first() layer {
	l := m.empty()
	full := m.states - 1
	l.rank[full] = 0
	l.reached = append(l.reached, full)
	return l
}

func (m *mapper) empty() layer {
	l := layer{rank: make([]int32, m.states)}
	for i := range l.rank {
		l.rank[i] = unset
	}
	return l
}

// next returns the layer after one more server, of the given class and part.
// Cost: states reached times configs.
func (m *mapper) next(prev layer, class, part int) (layer, error) {
	configs := m.configsOf(class, part)
	m.work += m.states + len(prev.reached)*len(configs)
	if m.work > maxTransitions {
		return layer{}, fmt.Errorf("cuts: %w: a job takes more than %d steps of dynamic programming: too large to enumerate", sched.ErrNotApplicable, maxTransitions)
	}
	out := m.empty()
	for _, r := range prev.reached {
		for i := range configs {
			c := &configs[i]
			if !m.within(c, r) {
				continue
			}
			to := r - c.delta
			if out.rank[to] == unset {
				out.reached = append(out.reached, to)
			}
			out.rank[to] = min(out.rank[to], max(prev.rank[r], c.rank))
		}
	}
	return out, nil
}

// within reports whether the config takes no more than state r has left.
func (m *mapper) within(c *config, r int) bool {
	for s, x := range c.counts {
		if x > 0 && x > r/m.radix[s]%(m.replicas[s]+1) {
			return false
		}
	}
	return true
}

// configsOf lists the ways to fill exactly part GPUs of a server.
func (m *mapper) configsOf(class, part int) []config {
	key := [2]int{class, part}
	if list, ok := m.configs[key]; ok {
		return list
	}
	var list []config
	m.eachFilling(part, func(counts []int) {
		c := config{append([]int(nil), counts...), 0, m.worst(class, counts)}
		for s, x := range counts {
			c.delta += x * m.radix[s]
		}
		list = append(list, c)
	})
	m.configs[key] = list
	return list
}
